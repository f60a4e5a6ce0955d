//! Phrases of sentences that do not describe what a tool does.
//!
//! Source: manual review of the descriptions of 20 MCP servers and three coding agents; the other
//! languages are translations.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Beginnings of warnings, conditions and instructions, in lower case, separated by `|`. Each ends
/// at the end of a word. English, German, French, Spanish, Portuguese, Italian, Dutch, Polish,
/// Turkish, Russian, Ukrainian.
const ASIDES: &str = "only|when|whenever|if|unless|before you|before calling|before using|after calling|after using|after you|\
    once|always|never|do not|don't|don’t|must|should|please|important|warning|caution|nb|n.b.|attention|\
    mandatory|prerequisite|prerequisites|requires|danger|critical|remember|ensure|make sure|avoid|prefer|\
    not for|not recommended|you must|you should|you need|you can|use only|use when|use if|use this when|\
    use this if|use this only|use this before|use this after|use this for|use this tool when|use this tool if|\
    use this tool only|use this tool whenever|use this tool before|use this tool after|use this tool for|\
    use this instead|use this tool instead|use it|use with|use sparingly|use caution|use cases|use case|use the|\
    use instead|call this|call when|call only|call it|invoke this|invoke when|run this|this tool should|\
    this tool must|this tool requires|this tool is only|this tool can only|this should|this must|this requires|\
    this is the most|this is only|should be used|must be used|\
    must be called|to be used|to use this|useful when|best used|best for|intended for use|deprecated|disclaimer|\
    beta feature|experimental feature|for internal use|irreversible|this is destructive|this operation is|\
    this is irreversible|this is a destructive|this cannot|this can not|read this first|see also|unlike|\
    see http|see https|see docs|see the docs|see the documentation|see our|no description|todo|tbd|fixme|n/a|placeholder|ask the user|\
    confirm with|ask for confirmation|read carefully|step 1|step 2|step 3|step 4|instead of|as a last resort|with caution|be careful|the user must|the user should|users must|the agent must|\
    the assistant must|the model must|in order to use|except|nur|wenn|falls|niemals|achtung|wichtig|hinweis|\
    warnung|vorsicht|bitte|nicht verwenden|verwende dieses tool nur|verwenden sie dieses tool nur|verwende nur|\
    benutze nur|immer|vor dem|erst|bevor|avertissement|remarque|à utiliser uniquement|a utiliser uniquement|\
    utiliser uniquement|utilisez uniquement|utilisez cet outil uniquement|utiliser cet outil uniquement|\
    n'utilisez|n’utilisez|ne pas|seulement|uniquement|si|quand|lorsque|toujours|jamais|avant de|veuillez|solo|\
    sólo|úselo solo|usar solo|usar sólo|usar únicamente|usar unicamente|use solo|use sólo|utilice solo|\
    utilizar solo|utilizar únicamente|únicamente|advertencia|aviso|atención|importante|nota|cuando|no usar|\
    no use|no utilizar|siempre|nunca|antes de|use apenas|usar apenas|use somente|usar somente|apenas|somente|\
    atenção|quando|não use|não usar|sempre|usare solo|usa solo|utilizzare solo|attenzione|avviso|avvertenza|se|\
    non usare|non utilizzare|alleen|gebruik alleen|let op|waarschuwing|belangrijk|tylko|używaj tylko|uwaga|\
    ważne|ostrzeżenie|yalnızca|sadece|dikkat|uyarı|önemli|только|внимание|важно|если|используйте только|\
    использовать только|предупреждение|никогда|всегда|перед|примечание|не используйте|увага|важливо|якщо|тільки";

/// The same in scripts without spaces between words.
const ASIDES_UNSPACED: &str = "注意|警告|重要|仅适用|仅用于|只适用|只用于|不适用|仅供|僅適用|仅当|仅在|仅限|只有|只在|如果|若|请勿|请先|不要|必须|务必|切勿|当用户|提示|說明：|请注意|谨慎|\
    僅當|僅在|請勿|請先|必須|注：|備註|备注|ご注意|ユーザーが明示|必ず|使用する前に|…の場合|場合にのみ|ただし|\
    もし|使用しない|주의|경고|중요|반드시|사용자가 명시|만약|참고";

/// Phrases that end a conditional sentence in such scripts.
const CONDITIONS_UNSPACED: &str = "时才使用|时使用|时才能使用|時才使用|場合のみ使用|場合にのみ使用|경우에만 사용";

/// Beginnings and ends of headings, in lower case, of sections that do not describe what a tool
/// does.
const ASIDE_SECTIONS: &str = "steps|title|tool name|function name|docs|documentation|references|learn more|more information|args|arg|options|fields|supported operations|arguments|parameters|parameter|params|param|input|inputs|input parameters|returns|return|output|\
    outputs|response|example|examples|usage|usage example|usage guidance|usage notes|note|notes|warning|\
    warnings|caution|important|prerequisite|prerequisites|requirements|requires|guardrail|guardrails|\
    limitations|limits|rules|tips|tip|hint|see also|when to use|when not to use|best for|not recommended for|\
    common mistakes|security|permissions|required permissions|errors|raises|throws|workflow|best practices|\
    best practice|guidelines|instructions|next steps|mandatory|danger|disclaimer|scopes|rate limits|use cases|\
    use case|use when|important notes|attention|key features|features|hinweis|achtung|warnung|wichtig|rückgabe|\
    beispiel|remarque|avertissement|paramètres|exemple|advertencia|importante|parámetros|ejemplo|nota|aviso|\
    параметры|внимание|важно|пример|参数|参数说明|返回|返回值|示例|注意|注意事项|警告|重要|前提|使用说明|使用场景|规则|原则|限制|适用场景|\
    引数|戻り値|例|매개변수|주의";

/// Headings of sections that describe what a tool does.
const PURPOSE_SECTIONS: &str = "purpose|description|tool description|function description|summary|overview|what it does|what this does|\
    about|what this tool does|goal|objective|function|functionality|beschreibung|zweck|description de l'outil|\
    objectif|descripción|propósito|descrição|descrizione|описание|назначение|功能|描述|说明|用途|目的|概要|説明|\
    설명";

/// Whether a section does not describe what a tool does.
pub(super) fn is_aside_section(heading: &str) -> bool {
    let bare = bare(heading);
    ASIDE_SECTIONS.split('|').any(|known| {
        bare == known
            || bare.strip_suffix(known).is_some_and(|before| before.ends_with(' '))
            || bare.strip_prefix(known).is_some_and(|behind| behind.starts_with([' ', '(']))
    })
}

/// Whether a section describes what a tool does.
pub(super) fn is_purpose_section(heading: &str) -> bool {
    let bare = bare(heading);
    PURPOSE_SECTIONS.split('|').any(|known| bare == known)
}

/// The phrases of [`ASIDES`] by their first word.
static BY_FIRST_WORD: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let mut by: HashMap<&str, Vec<&str>> = HashMap::new();
    for phrase in ASIDES.split('|') {
        by.entry(first_word(phrase)).or_default().push(phrase);
    }
    by
});

fn first_word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default()
}

/// Phrases that make a sentence one about calling a tool, in any position.
const ABOUT_CALLS: &str = "before calling this|before using this|before you call this|before you use this|prior to calling this|\
    prior to using this|after calling this";

/// Whether a sentence begins like a warning, a condition or an instruction.
pub(super) fn is_aside(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    BY_FIRST_WORD.get(first_word(&lower)).is_some_and(|phrases| has_start(&lower, phrases))
        || ABOUT_CALLS.split('|').any(|phrase| lower.contains(phrase))
        || !lower.is_ascii() && is_aside_unspaced(&lower)
}

fn is_aside_unspaced(lower: &str) -> bool {
    ASIDES_UNSPACED.split('|').any(|start| lower.starts_with(start))
        || CONDITIONS_UNSPACED.split('|').any(|end| lower.contains(end))
}

/// Whether a lower-case text begins with one of some phrases, at the end of a word.
pub(super) fn has_start(lower: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| {
        lower
            .strip_prefix(phrase)
            .is_some_and(|rest| rest.chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '-'))
    })
}

/// Whether a text contains a phrase, ignoring case.
pub(super) fn has_phrase(text: &str, phrase: &str) -> bool {
    text.to_lowercase().contains(phrase)
}

fn bare(heading: &str) -> String {
    let trimmed = heading.trim_matches(|c: char| !c.is_alphanumeric() && c != '(' && c != ')');
    trimmed.to_lowercase()
}
