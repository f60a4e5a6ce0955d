//! General topics for tools that share no word.
//!
//! Source: manual review of the tool lists of 20 MCP servers, BFCL and the Excel domain. A topic is
//! used only if names and sentences of several tools indicate it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::LazyLock;

use crate::profile::words::stem;

/// Each topic with the stems that indicate it.
const TOPICS: &[(&str, &str)] = &[
    ("accounts", "account signup login logout authentication auth signin profile"),
    ("agents", "agent subagent goal delegate swarm crew assistant"),
    ("ai", "ai llm openai embedding completion inference speech tts stt transcription chatbot"),
    (
        "billing",
        "billing cost price pricing quota usage budget invoice payment charge refund balance credit coupon payout checkout fund insurance exchange currency",
    ),
    ("calendar", "calendar event meeting appointment reminder attendee"),
    ("charts", "chart graph plot sparkline visualization histogram"),
    ("code", "code repository branch commit snippet lint compiler sdk terraform bicep iac checkout stash"),
    ("compute", "vm instance compute serverless function machine desktop"),
    ("containers", "container cluster pod kubernetes docker registry node helm nodepool"),
    ("database", "database sql schema mysql postgres postgresql redis mongo cosmos kusto migration"),
    ("deployment", "deploy deployment release pipeline build ci workflow environment webapp rollout"),
    ("documents", "document wiki template pdf markdown paragraph"),
    ("email", "email mail inbox draft mailbox recipient newsletter"),
    ("finance", "finance stock trade trading portfolio market ticker dividend crypto wallet loan"),
    ("feedback", "feedback survey rating vote poll suggestion"),
    (
        "files",
        "file directory folder path filesystem blob attachment disk gzip drive cat cd cp du ls mkdir mv pwd rm rmdir touch tail",
    ),
    (
        "formatting",
        "format formatting style color font border theme width height layout header footer bold italic alignment indent",
    ),
    ("formulas", "formula goal seek validation constant calculation"),
    ("governance", "policy assignment role subscription group tenant compliance tag advisor"),
    (
        "guidance",
        "help documentation guide guidance guide practice recommendation prompt tutorial architecture architect learning",
    ),
    ("home", "home light lamp thermostat climate vacuum fan curtain heater garage doorbell"),
    ("images", "image photo picture screenshot icon thumbnail drawing diagram"),
    (
        "interaction",
        "click hover drag drop type press key keyboard fill form select scroll upload dialog tap swipe touch option element mouse",
    ),
    (
        "inspection",
        "console evaluate highlight annotate locator snapshot screenshot inspect trace tracing debug accessibility",
    ),
    ("location", "location place address map geocode city zipcode weather airport country distance"),
    ("logs", "log trace event history activity audit"),
    ("math", "number sum mean deviation logarithm root square math unit percentage"),
    (
        "media",
        "video audio speech music song playlist voice recording track album artist playback volume podcast episode",
    ),
    ("memory", "memory remember recall memorize knowledge"),
    ("messaging", "message chat channel sms thread conversation notification queue topic broadcast communication"),
    (
        "monitoring",
        "metric alert monitor monitoring health diagnostic insight incident telemetry lens uptime dashboard datadog",
    ),
    ("navigation", "url tab navigate forward window viewport resize"),
    ("network", "network dns ip proxy vpn port firewall"),
    ("people", "person people user usergroup contact member team owner participant follower"),
    ("processes", "process terminal shell command pid job script"),
    ("sales", "sale deal lead opportunity pipeline quote prospect forecast"),
    ("search", "search lookup keyword"),
    ("security", "secret certificate vault token credential password encryption permission identity ledger guardrail"),
    ("settings", "setting configuration preference env variable"),
    ("shopping", "product order cart shop store inventory sku marketplace"),
    ("staff", "staff employee payroll payslip leave candidate interview salary onboarding recruiting"),
    ("tables", "table row column cell pivot"),
    ("tasks", "task todo ticket project sprint board milestone"),
    ("time", "time date timezone clock duration"),
    ("travel", "travel flight hotel booking trip airline airport passenger"),
    ("vehicle", "vehicle car engine tire headlight brake trunk fuel mileage cruise odometer"),
    ("web", "web website site http html browser internet crawl scrape extract sitemap"),
];

/// Words that carry no information about a tool.
const FILLERS: &str = "about across action active actual after all allow allows also already and another any are argument array available based been before being \
    below between both but can cannot certain complete contain containing contains correct corresponding current data default defined desired detail details different directly does done \
    each either else empty enough entire entry etc every example exist existing fail field filter first following for format from full function given has have how identifier \
    include included includes including info information input instead into its item itself just kind last later least left less level like list listed long longer main make many matching \
    may more most much multiple must name names need new non none not note number object off one only onto optional optionally option options other otherwise out output over own \
    page-level parameter parameters part particular passed pattern per point possible previous property provided purpose range related relevant required \
    resource response result results return returned same second see set several should show simple since single size some specific specified such support supported supports system than that \
    the their them then there these they thing this those through time times together tool tools total true two type types under unique unless until upon use used useful user users uses using \
    value values various via want was way well were what when where whether which while who whole whose why will with within without work would yet you your json string true false integer text \
    operation operations service services server content contents uid uri api id ids which valid single structured formatted mode";

/// Words of names that carry little information on their own.
const GENERIC: &str = "info information detail data status name value id uid type result item content property resource option setting list summary metadata state history \
    stat statistics field config count object text query request response log tool action by url key format schema entry record level number time date size user system";

static FILLER_SET: LazyLock<HashSet<&'static str>> = LazyLock::new(|| FILLERS.split_whitespace().collect());
static GENERIC_SET: LazyLock<HashSet<&'static str>> = LazyLock::new(|| GENERIC.split_whitespace().collect());
/// The minimum length of a word that indicates its topic inside a longer one (`bestpractices`,
/// `functionapp`), in letters. Source of these three constants: manual review; shorter words match
/// by chance (`commander`, `pressure`).
const MIN_INSIDE: usize = 5;

/// The same at the beginning of a word, where chance matches are frequent: `pressure` is not
/// `press`.
const MIN_BEFORE: usize = 6;

/// The minimum length of the other part of such a word: a `commander` is not a `command`.
const MIN_BESIDE: usize = 3;

static BY_WORD: LazyLock<HashMap<String, Vec<&'static str>>> = LazyLock::new(|| {
    let mut by: HashMap<String, Vec<&str>> = HashMap::new();
    for (topic, words) in TOPICS {
        for word in words.split_whitespace() {
            by.entry(stem(word)).or_default().push(topic);
        }
    }
    by
});

/// The weight of a word of a name relative to one of a sentence.
pub(super) const NAME_WEIGHT: usize = 4;

/// Whether a word of a sentence carries no information about a tool.
pub(super) fn is_filler(word: &str) -> bool {
    FILLER_SET.contains(word)
}

/// Whether a word of a name carries little information on its own.
pub(super) fn is_generic(stem: &str) -> bool {
    GENERIC_SET.contains(stem)
}

/// Whether a word of a sentence can name its subject.
pub(super) fn is_telling(word: &str) -> bool {
    !is_filler(word) && !crate::profile::words::can_be_verb(word) && !word.ends_with("ing") && !word.ends_with("ed")
}

/// The topics of a unit, each with its weight.
pub(super) fn topics_of<'w>(
    named: impl Iterator<Item = &'w String>,
    said: &BTreeSet<String>,
) -> BTreeMap<&'static str, usize> {
    let mut found = BTreeMap::new();
    for topic in named.flat_map(|word| topics_of_name(word)) {
        *found.entry(topic).or_default() += NAME_WEIGHT;
    }
    for topic in said.iter().flat_map(|word| topics_of_word(word)) {
        *found.entry(*topic).or_default() += 1;
    }
    found
}

/// The topics that a word indicates.
pub(super) fn topics_of_word(word: &str) -> &'static [&'static str] {
    BY_WORD.get(word).map_or(&[], Vec::as_slice)
}

/// The topics of a word of a name: those of the word itself, or of the longest known words that it
/// ends or begins with.
fn topics_of_name(word: &str) -> Vec<&'static str> {
    let whole = topics_of_word(word);
    if !whole.is_empty() || !word.is_ascii() {
        return whole.to_vec();
    }
    let longest = word.len().saturating_sub(MIN_BESIDE);
    let behind = (MIN_INSIDE..=longest).rev().find_map(|length| topics_of_part(word.get(word.len() - length..)?));
    let before = (MIN_BEFORE..=longest).rev().find_map(|length| topics_of_part(word.get(..length)?));
    let mut both = [behind.unwrap_or_default(), before.unwrap_or_default()].concat();
    both.dedup();
    both
}

/// The topics of a part of a word, if it has any.
fn topics_of_part(part: &str) -> Option<&'static [&'static str]> {
    match topics_of_word(&stem(part)) {
        [] => None,
        topics => Some(topics),
    }
}
