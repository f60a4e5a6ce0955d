//! Recorded tasks: the user's messages and the true calls that answer them.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::judge::{differences, same_members};
use super::python::read_call;
use crate::json::{object_member, string_member};

/// A call that a task requires.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TrueCall {
    /// The tool, by its catalog name.
    pub tool: String,
    /// The arguments, with names for positional ones.
    pub arguments: Value,
    /// The tool's result, if the task recorded it.
    pub result: Option<String>,
    /// Arguments that are not compared.
    pub ignored: Vec<String>,
    /// Arguments with lists whose order does not matter.
    pub unordered: Vec<String>,
    /// Other calls that are as right as this one.
    pub alternatives: Vec<TrueCall>,
}

impl TrueCall {
    fn new(tool: String, arguments: Map<String, Value>) -> Self {
        let (ignored, unordered, alternatives) = (Vec::new(), Vec::new(), Vec::new());
        Self { tool, arguments: Value::Object(arguments), result: None, ignored, unordered, alternatives }
    }

    /// The arguments in which a call of the tool differs, under the tool's schema.
    #[must_use]
    pub fn differences(&self, schema: &Value, given: &Value) -> Vec<String> {
        let mut names = differences(schema, &self.arguments, given);
        let is_same_list = |name: &str| match (self.arguments.get(name), given.get(name)) {
            (Some(own), Some(other)) => same_members(own, other),
            _ => false,
        };
        names.retain(|name| !(self.ignored.contains(name) || self.unordered.contains(name) && is_same_list(name)));
        names
    }
}

/// A user's message and the calls that answer it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Turn {
    /// The user's message.
    pub user: String,
    /// The true calls, in order.
    pub calls: Vec<TrueCall>,
}

/// A task: turns of one conversation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Task {
    /// Its id, unique in its file.
    pub id: String,
    /// The domains whose tools it uses; empty for all tools.
    pub domains: Vec<String>,
    /// Its turns, in order.
    pub turns: Vec<Turn>,
    /// Tools whose calls change nothing, besides those that their server describes as read-only.
    pub reads: Vec<String>,
}

/// Tasks with their tools.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Corpus {
    /// Tools in MCP's format by domain, in order; "" for a list without domains.
    pub domains: IndexMap<String, Vec<Value>>,
    /// The tasks, in the file's order.
    pub tasks: Vec<Task>,
    /// SHA-256 of both texts: only rows of the same tasks and tools are compared.
    pub digest: String,
}

/// Why tasks cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// The tool document is invalid.
    #[error("the tool document cannot be read: {0}")]
    Tools(String),
    /// A line is not a task.
    #[error("line {line}: {why}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// Why.
        why: String,
    },
    /// There are no tasks.
    #[error("no tasks found")]
    Empty,
}

/// A line of a task file, in the format of BFCL's multi-turn tasks.
#[derive(Deserialize)]
struct Written {
    id: String,
    turns: Vec<String>,
    #[serde(default)]
    involved_domains: Vec<String>,
    ground_truth: Vec<Vec<WrittenCall>>,
    #[serde(default)]
    reads: Vec<String>,
    /// Parallel to the true calls; text, or JSON that is returned as text.
    #[serde(default)]
    results: Vec<Vec<Value>>,
}

/// A true call: a Python expression, or an object.
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenCall {
    Python(String),
    Json(Box<WrittenObject>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenObject {
    name: String,
    arguments: Map<String, Value>,
    #[serde(default)]
    ignore: Vec<String>,
    #[serde(default)]
    unordered: Vec<String>,
    #[serde(default)]
    or: Vec<WrittenCall>,
}

impl Corpus {
    /// Reads tasks (JSON lines) and their tools.
    ///
    /// `tools` is a document of domains, `{"domains":{"files":{"tools":[…]}}}` with tools in MCP's
    /// format, or a list of such tools, which every task then uses.
    ///
    /// # Errors
    /// Returns a [`TaskError`] that names the line: a task in another format, a true call that is
    /// not a literal call, a call of a tool that its domains lack, or a duplicate id.
    pub fn from_json_lines(tasks: &str, tools: &str) -> Result<Self, TaskError> {
        let domains = domains(tools)?;
        let mut read: IndexMap<String, Task> = IndexMap::new();
        for (at, line) in tasks.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let wrong = |why: String| TaskError::Line { line: at + 1, why };
            let task = task(&domains, line).map_err(wrong)?;
            if read.contains_key(&task.id) {
                return Err(wrong(format!("duplicate task `{}`", task.id)));
            }
            read.insert(task.id.clone(), task);
        }
        if read.is_empty() {
            return Err(TaskError::Empty);
        }
        let mut sum = Sha256::new();
        sum.update(tasks.as_bytes());
        sum.update([0]);
        sum.update(tools.as_bytes());
        let digest = sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { domains, tasks: read.into_values().collect(), digest })
    }

    /// The tools of a task as an MCP tool list: those of its domains, or all if it names none.
    #[must_use]
    pub fn tools_of(&self, task: &Task) -> String {
        let own = tools_of(&self.domains, &task.domains).unwrap_or_default();
        json!(own).to_string()
    }
}

fn domains(text: &str) -> Result<IndexMap<String, Vec<Value>>, TaskError> {
    #[derive(Deserialize)]
    struct Domain {
        tools: Vec<Value>,
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Document {
        Domains { domains: IndexMap<String, Domain> },
        Listed { tools: Vec<Value> },
        List(Vec<Value>),
    }
    let read: Value = serde_json::from_str(text).map_err(|why| TaskError::Tools(why.to_string()))?;
    let shape = "it is neither {\"domains\":{NAME:{\"tools\":[…]}}} nor a list of tools in MCP's format";
    match serde_json::from_value(read).map_err(|_| TaskError::Tools(shape.to_owned()))? {
        Document::Domains { domains } => Ok(domains.into_iter().map(|(name, own)| (name, own.tools)).collect()),
        Document::Listed { tools } | Document::List(tools) => Ok(IndexMap::from([(String::new(), tools)])),
    }
}

fn tools_of<'d>(domains: &'d IndexMap<String, Vec<Value>>, own: &[String]) -> Result<Vec<&'d Value>, String> {
    if own.is_empty() || domains.contains_key("") {
        return Ok(domains.values().flatten().collect());
    }
    let mut tools = Vec::new();
    for name in own {
        tools.extend(domains.get(name).ok_or_else(|| format!("unknown domain `{name}`"))?);
    }
    Ok(tools)
}

fn task(domains: &IndexMap<String, Vec<Value>>, line: &str) -> Result<Task, String> {
    let written: Written = serde_json::from_str(line).map_err(|why| format!("not a task: {why}"))?;
    if written.turns.len() != written.ground_truth.len() {
        let (turns, truths) = (written.turns.len(), written.ground_truth.len());
        return Err(format!("`{}` has {turns} turns and true calls for {truths}", written.id));
    }
    let tools = tools_of(domains, &written.involved_domains)?;
    let mut turns = Vec::new();
    // Results may be missing for the last turns, and for the last calls of a turn.
    let mut all_results = written.results.into_iter();
    for (user, truths) in written.turns.into_iter().zip(written.ground_truth) {
        let mut results = all_results.next().unwrap_or_default().into_iter();
        let mut calls = Vec::new();
        for call in truths {
            let mut call = true_call(&tools, call)?;
            call.result = match results.next() {
                Some(Value::String(text)) => Some(text),
                Some(value) => Some(value.to_string()),
                None => None,
            };
            calls.push(call);
        }
        turns.push(Turn { user, calls });
    }
    for name in &written.reads {
        schema_of(&tools, name)?;
    }
    Ok(Task { id: written.id, domains: written.involved_domains, turns, reads: written.reads })
}

fn true_call(tools: &[&Value], call: WrittenCall) -> Result<TrueCall, String> {
    let own = match call {
        WrittenCall::Python(text) => {
            let (tool, arguments) = from_python(tools, &text)?;
            return Ok(TrueCall::new(tool, arguments));
        }
        WrittenCall::Json(own) => own,
    };
    schema_of(tools, &own.name)?;
    let mut call = TrueCall::new(own.name, own.arguments);
    (call.ignored, call.unordered) = (own.ignore, own.unordered);
    for other in own.or {
        let other = true_call(tools, other)?;
        if !other.alternatives.is_empty() {
            return Err(format!("an alternative of `{}` has alternatives of its own", call.tool));
        }
        call.alternatives.push(other);
    }
    Ok(call)
}

fn schema_of<'t>(tools: &[&'t Value], name: &str) -> Result<&'t Value, String> {
    let mut meant = tools.iter().filter(|tool| string_member(tool, "name") == Some(name));
    let tool = meant.next().ok_or_else(|| format!("the task's domains have no tool `{name}`"))?;
    match meant.next() {
        Some(_) => Err(format!("the task's domains have two tools `{name}`")),
        None => Ok(tool.get("inputSchema").unwrap_or(&Value::Null)),
    }
}

/// A true call with the parameter names of positional arguments.
fn from_python(tools: &[&Value], text: &str) -> Result<(String, Map<String, Value>), String> {
    let written = read_call(text)?;
    let schema = schema_of(tools, &written.name)?;
    let none = Map::new();
    let parameters = object_member(schema, "properties").unwrap_or(&none);
    if written.positional.len() > parameters.len() {
        return Err(format!("{text}: more arguments than parameters"));
    }
    let positional = parameters.keys().cloned().zip(written.positional);
    let mut arguments = Map::new();
    for (name, value) in positional.chain(written.named) {
        if arguments.contains_key(&name) {
            return Err(format!("{text}: duplicate argument `{name}`"));
        }
        arguments.insert(name, value);
    }
    Ok((written.name, arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: &str = r#"{"domains":{"files":{"tools":[
        {"name":"mv","inputSchema":{"properties":{"source":{},"destination":{}}}}]},
        "other":{"tools":[{"name":"say","inputSchema":{"properties":{"text":{}}}}]}}}"#;

    fn check(line: &str, expected: Result<Value, &str>) {
        let read = Corpus::from_json_lines(line, TOOLS).map(|corpus| {
            let calls = corpus.tasks[0].turns.iter().flat_map(|turn| &turn.calls);
            json!(calls.map(|call| json!([call.tool, call.arguments, call.result])).collect::<Vec<_>>())
        });
        match (read, expected) {
            (Ok(read), Ok(expected)) => assert_eq!(read, expected, "{line}"),
            (Err(why), Err(part)) => assert!(why.to_string().contains(part), "{why} has no `{part}`"),
            (read, _) => panic!("{line}: {read:?}"),
        }
    }

    #[test]
    fn tasks_are_read_with_calls_in_both_formats() {
        let line = |truth: &str, more: &str| {
            format!(r#"{{"id":"a","turns":["Do."],"involved_domains":["files"],"ground_truth":[{truth}]{more}}}"#)
        };
        let moved = json!({"source": "a", "destination": "b"});
        check(&line(r#"["mv('a', destination='b')"]"#, ""), Ok(json!([["mv", moved, null]])));
        let object = r#"[{"name":"mv","arguments":{"source":"a","destination":"b"}}]"#;
        check(&line(object, r#","results":[[{"ok":1}]]"#), Ok(json!([["mv", moved, "{\"ok\":1}"]])));
        check(&line(object, r#","results":[["gone"]]"#), Ok(json!([["mv", moved, "gone"]])));
        check(&line(r#"["say('x')"]"#, ""), Err("line 1: the task's domains have no tool `say`"));
        check(&line(r#"["mv(a)"]"#, ""), Err("not a literal"));
        check(&line(r#"["mv('a', 'b', 'c')"]"#, ""), Err("more arguments"));
        check(&line(r#"["mv('a', source='b')"]"#, ""), Err("duplicate argument"));
        check(&line(r#"["mv('a')"],[]"#, ""), Err("1 turns and true calls for 2"));
        check("", Err("no task"));
        check("{", Err("line 1: not a task"));
        check(r#"{"id":"a","turns":[],"ground_truth":[],"involved_domains":["x"]}"#, Err("unknown domain `x`"));
        let twice = line(r#"["mv('a')"]"#, "");
        check(&format!("{twice}\n\n{twice}"), Err("line 3: duplicate task"));
    }
}
