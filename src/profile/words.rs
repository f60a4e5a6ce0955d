//! The words of names, and which of them are verbs.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Words that describe an action and rarely its object.
const VERBS: &str = "accept acquire activate add adjust analyse analyze annotate append apply approve archive assign attach authenticate authorize \
    begin bind block bookmark boost bring browse build buy calculate cancel capture change check choose claim clean clear click clone close collect combine \
    complete compress compute configure confirm connect consume convert copy count create deactivate decline decode decrease decrypt deduplicate \
    define delete deliver deny describe destroy detach detect determine diagnose disable discard disconnect discover dismiss display divide download drag draw \
    duplicate edit emulate enable encode encrypt enrich enter enumerate erase estimate evaluate examine exclude exec execute expand explain explore export \
    extend extract fetch fill filter finalize find finish fix flag follow force forget format freeze generate get give grant handle hide hover identify ignore \
    import improve increase ingest initialize insert inspect install invite invoke join keep kill launch leave let list load locate lock login logout lookup maintain make manage \
    mark measure merge migrate modify move multiply mute navigate notify obtain offer open organize overwrite parse paste patch pause perform pick pin place play \
    poll post predict prepare press preview provide provision publish pull purchase purge push put query queue react read rebase rebuild recall receive recognize recommend reconnect \
    record redo refresh refund register reject release reload remove rename render renew reopen reorder replace reply request rerun reschedule reset resize resolve \
    respond restart restore resume retrieve retry return reveal revert revoke rewrite roll rotate run sample save scale scan schedule scrape scroll search \
    select send set share shorten show shut simulate skip snooze solve sort specify split stage star start stop store stream submit subscribe subtract suggest summarise summarize \
    suspend swap switch sync synchronize synthesize tag take terminate test toggle track train transcribe transfer transform transition translate traverse trigger trim type unarchive unassign unblock undo \
    unfollow uninstall unlink unlock unmute unpin unregister unset unsnooze unstar unsubscribe untag unwatch update upgrade upload upsert use validate verify view visit void vote wait watch \
    withdraw write zoom batch bulk";

/// The verbs among them that are nouns too: they count as verbs only if the name has no other verb.
const NOUNS_TOO: &str = "archive batch block bookmark boost build bulk change check claim comment count display draft drag dump export \
    filter fix flag follow force format grant import insert issue label launch link list lock log login logout \
    lookup mark match measure merge mute note offer order patch pause pin place play poll post press preview \
    process pull purchase push query queue react record refund release reply report request return review roll run \
    sample scale scan schedule scroll search select sentry share split stage star start stop store stream switch \
    sync tag test trace track train transcript transfer transform transition trigger type upgrade view visit void \
    vote template transaction deploy index monitor plan map model snapshot fork branch commit document email \
    message call chat contact address alert answer audit research sequence";

/// Verbs of names in other languages: Chinese (both scripts), Japanese, Korean; Spanish and
/// Portuguese, French, German, Italian, Russian. Source: manual selection of the most common
/// translations of [`VERBS`].
const VERBS_ELSEWHERE: &str = "创建 新建 新增 建立 添加 增加 插入 更新 修改 编辑 设置 设定 配置 删除 移除 清除 清空 查询 查看 查找 搜索 检索 获取 读取 列出 列举 \
    浏览 打开 关闭 启动 停止 暂停 恢复 重启 执行 运行 调用 发送 接收 撤回 回复 转发 上传 下载 导入 导出 生成 分析 计算 统计 转换 翻译 复制 移动 重命名 合并 拆分 \
    分配 完成 取消 提交 审批 批准 拒绝 确认 验证 检查 发布 归档 同步 订阅 邀请 加入 退出 分享 共享 标记 保存 写入 登录 \
    創建 新增 編輯 設定 刪除 查詢 查看 搜尋 取得 獲取 讀取 開啟 關閉 啟動 執行 傳送 發送 上傳 下載 匯入 匯出 產生 轉換 翻譯 複製 移動 \
    作成 取得 更新 削除 検索 一覧 送信 受信 追加 編集 変更 登録 解除 開始 停止 実行 表示 確認 保存 共有 \
    생성 조회 수정 삭제 검색 전송 추가 목록 등록 취소 변경 실행 업로드 다운로드 가져오기 내보내기 저장 \
    crear listar obtener actualizar eliminar borrar buscar enviar agregar añadir consultar cancelar descargar subir guardar criar obter atualizar excluir adicionar baixar salvar anular registrar generar modificar editar exportar importar \
    créer creer lister obtenir supprimer rechercher chercher envoyer ajouter modifier télécharger annuler enregistrer \
    erstelle erstellen anlegen liste auflisten hole holen aktualisiere aktualisieren lösche löschen suche suchen sende senden hinzufügen ändern lade speichern abfragen abrufen bearbeiten entfernen loeschen stornieren prüfen öffnen schließen erzeugen \
    crea creare elenca ottieni aggiorna elimina cerca invia aggiungi \
    создать получить обновить удалить найти отправить добавить изменить список загрузить скачать";

/// Particles between a noun and its verb in scripts without spaces.
const PARTICLES: [char; 6] = ['を', 'の', 'に', '을', '를', '的'];

static VERB_SET: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| VERBS.split_whitespace().chain(VERBS_ELSEWHERE.split_whitespace()).collect());
static NOUN_TOO_SET: LazyLock<HashSet<&'static str>> = LazyLock::new(|| NOUNS_TOO.split_whitespace().collect());

/// Verbs that occur in names but rarely begin sentences.
const MORE_VERBS: &str = "abort access act administer allow attempt audit benchmark book call cache change chart chat clip close comment commit compare compile compose \
    concatenate conduct contact correlate crawl crop debug deploy draft drop dump echo edit email empty enforce ensure escalate exchange fork forward fund gather grep guess hash highlight \
    host import index interact iterate link log loop mail map match mention message mint mock monitor mount nudge order output pair permanently plan print process produce profile project prompt protect \
    punch quote raise rank rate reassign rebuild recreate recursively remind report represent reproduce review ring route safely score seed sell serve shift sign signal slice sleep slide \
    snap sum supply support swipe tail tell throw touch trace trade trash tweet uncomment unmerge unroute unzip vacuum walk wrap zip adds ask learn lead say think apply quickly efficiently bulk gain surface \
    ban kick onboard promote demote cordon uncordon drain evict enroll mock invite scaffold";

static MORE_VERB_SET: LazyLock<HashSet<&'static str>> = LazyLock::new(|| MORE_VERBS.split_whitespace().collect());

/// Whether a lower-case word is a verb, in its base form or third person.
pub(super) fn is_verb(word: &str) -> bool {
    if let Some(stem) = word.strip_suffix("ies")
        && can_be_verb(&format!("{stem}y"))
    {
        return true;
    }
    [Some(word), word.strip_suffix("es"), word.strip_suffix('s')].into_iter().flatten().any(can_be_verb)
}

/// Whether a word of a name can be its verb.
pub(super) fn can_be_verb(word: &str) -> bool {
    VERB_SET.contains(word) || MORE_VERB_SET.contains(word)
}

/// Whether a word of a name is always a verb.
pub(super) fn is_only_verb(word: &str) -> bool {
    VERB_SET.contains(word) && !NOUN_TOO_SET.contains(word)
}

/// A tool's name without the server prefix, if the name marks one: `mcp__server__tool`,
/// `server__tool`, `server.tool`, `server:tool`, `server/tool`.
pub(super) fn own_name(name: &str) -> &str {
    split_server(name).map_or(name, |(_, own)| own)
}

/// The server that a name marks, and the rest of the name.
pub(super) fn split_server(name: &str) -> Option<(&str, &str)> {
    let bare = name.strip_prefix("mcp__").unwrap_or(name);
    let (cut, mark) = match bare.find("__") {
        Some(cut) if cut > 0 => (cut, 2),
        _ => (bare.find([':', '/']).or_else(|| bare.find('.'))?, 1),
    };
    let (server, own) = (bare.get(..cut)?, bare.get(cut + mark..)?);
    (!server.is_empty() && !own.is_empty()).then_some((server, own))
}

/// A name or prefix without a leading `mcp_` or `mcp-`.
pub(super) fn without_mcp(name: &str) -> &str {
    name.strip_prefix("mcp_").or_else(|| name.strip_prefix("mcp-")).unwrap_or(name)
}

/// The beginning of a text: at most this many bytes, in whole characters.
pub(super) fn first_bytes(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// The words of a text in lower case, split at capitals and at characters other than letters and
/// digits. `iPhone15Pro` becomes `i phone15 pro`; numbers are words too.
pub(super) fn lower_case_words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next_is_lower = chars.peek().is_some_and(|next| next.is_lowercase());
        let starts = c.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && next_is_lower));
        if starts || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The words of a name, with the verb separated in scripts without spaces: `创建页面` becomes `创建 页面`.
pub(super) fn name_words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    for word in lower_case_words(name) {
        if word.is_ascii() { words.push(word) } else { words.extend(verb_apart(&word)) }
    }
    words
}

/// Splits a word before or after a verb of a script without spaces, using the longest known verb.
fn verb_apart(word: &str) -> Vec<String> {
    let mut longest = "";
    let mut parts = vec![word.to_owned()];
    for verb in VERBS_ELSEWHERE.split_whitespace() {
        if verb.contains(char::is_lowercase) {
            continue;
        }
        let (before, after) = (word.strip_suffix(verb), word.strip_prefix(verb));
        let noun = after.or(before).unwrap_or_default().trim_matches(PARTICLES);
        if verb.len() >= longest.len() && !noun.is_empty() {
            longest = verb;
            let both = if after.is_some() { [verb, noun] } else { [noun, verb] };
            parts = both.map(str::to_owned).to_vec();
        }
    }
    parts
}

/// Words that end in `s` in the singular.
const SINGULARS: [&str; 24] = [
    "alias",
    "analytics",
    "as",
    "atlas",
    "bias",
    "bonus",
    "bus",
    "canvas",
    "chaos",
    "christmas",
    "class",
    "dns",
    "gas",
    "https",
    "ios",
    "kubernetes",
    "lens",
    "news",
    "perhaps",
    "postgres",
    "redis",
    "series",
    "sms",
    "tls",
];

/// Abbreviations with their full words.
const SHORT_FORMS: [(&str, &str); 11] = [
    ("doc", "document"),
    ("repo", "repository"),
    ("db", "database"),
    ("dir", "directory"),
    ("config", "configuration"),
    ("org", "organization"),
    ("env", "environment"),
    ("img", "image"),
    ("msg", "message"),
    ("app", "application"),
    ("param", "parameter"),
];

/// The form used for comparing words: singular, with abbreviations expanded. Never shown.
pub(super) fn stem(word: &str) -> String {
    let stem = singular(word);
    for (short, long) in SHORT_FORMS {
        if stem == short {
            return long.to_owned();
        }
    }
    stem
}

fn singular(word: &str) -> String {
    if word.len() <= 3
        || !word.is_ascii()
        || SINGULARS.contains(&word)
        || word.ends_with("ss")
        || word.ends_with("us")
        || word.ends_with("is")
    {
        return word.to_owned();
    }
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() >= 2) {
        return format!("{stem}y");
    }
    let sibilant = ["sses", "shes", "ches", "xes", "zes"].iter().any(|end| word.ends_with(end));
    let cut = if sibilant { word.strip_suffix("es") } else { word.strip_suffix('s') };
    cut.unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::{lower_case_words, name_words, own_name, stem};

    #[test]
    fn words_are_compared_by_their_singular() {
        for (word, expected) in [
            ("entities", "entity"),
            ("issues", "issue"),
            ("branches", "branch"),
            ("atlas", "atlas"),
            ("status", "status"),
            ("boxes", "box"),
            ("analysis", "analysis"),
            ("databases", "database"),
            ("redis", "redis"),
            ("addresses", "address"),
            ("axes", "ax"),
            ("files", "file"),
        ] {
            assert_eq!(stem(word), expected);
        }
    }

    #[test]
    fn names_are_cut_into_words() {
        assert_eq!(lower_case_words("getHTTPResponse_v2"), ["get", "http", "response", "v2"]);
        assert_eq!(lower_case_words("API-post-search"), ["api", "post", "search"]);
        assert_eq!(lower_case_words("创建_页面"), ["创建", "页面"]);
        assert_eq!(name_words("创建页面"), ["创建", "页面"]);
        assert_eq!(name_words("ページを作成"), ["ページ", "作成"]);
        assert_eq!(name_words("创建"), ["创建"]);
    }

    #[test]
    fn servers_are_taken_off_names() {
        for (name, expected) in [
            ("mcp__github__create_issue", "create_issue"),
            ("slack.post", "post"),
            ("a:b", "b"),
            ("plain_name", "plain_name"),
            ("__node_version", "__node_version"),
        ] {
            assert_eq!(own_name(name), expected);
        }
    }
}
