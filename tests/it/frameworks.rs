//! Tool lists as frameworks write them, and lists in no known format.

use serde_json::{Value, json};
use toolfold::catalog::{Catalog, Format};

/// The only tool of a list as MCP lists it, and what is said about the list.
#[track_caller]
fn check(list: &Value, expected: &Value, said: &[&str]) {
    let loaded = Catalog::import(&list.to_string(), "t.json", None);
    let messages: Vec<String> = loaded.diagnostics.iter().map(|one| format!("{} {}", one.code, one.message)).collect();
    assert_eq!(messages, said, "{list}");
    let sent: Value = serde_json::from_str(&loaded.value.to_json(Format::Mcp)).unwrap();
    assert_eq!(sent, json!([expected]), "{list}");
}

/// A list of which nothing can be read: the error and its help.
#[track_caller]
fn refused(list: &str, code: &str, found: &str, accepted: &str) {
    let loaded = Catalog::import(list, "t.json", None);
    assert!(loaded.value.is_empty(), "{list}");
    let error = loaded.diagnostics.iter().find(|one| one.is_error()).unwrap_or_else(|| panic!("{list}"));
    assert_eq!(error.code, code, "{error}");
    assert!(error.message.contains(found), "{error}");
    assert!(error.to_string().contains(accepted), "{error}");
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 1}},
        "required": ["city"]})
}

fn tool() -> Value {
    json!({"name": "weather", "description": "Get it.", "inputSchema": schema()})
}

#[test]
fn langchain_and_crewai() {
    let dump = json!([{"name": "weather", "description": "Get it.", "args_schema": schema(), "return_direct": false}]);
    let settings = "foreign-key the keys `return_direct` are settings of a framework: they are left out";
    check(&dump, &tool(), &[settings]);
    let args = json!([{"name": "weather", "description": "Get it.", "args": schema()["properties"]}]);
    check(&args, &tool(), &[]);
    let whole =
        json!({"tools": [{"name": "weather", "description": "Get it.", "args_schema": null, "args": schema()}]});
    check(&whole, &tool(), &[]);
    // crewAI writes the names of Python's types.
    let crew = json!([{"name": "weather", "description": "Get it.",
        "args": {"city": {"description": null, "type": "str"}, "days": {"type": "List[int]"}, "any": "Optional[float]"}}]);
    let repaired = "repaired-schema tool `weather`: its schema is read as JSON Schema 2020-12: \
        `null` left out, a type by its name in JSON Schema (3 times)";
    let loaded = Catalog::import(&crew.to_string(), "t.json", None);
    assert_eq!(loaded.diagnostics.len(), 1, "{:?}", loaded.diagnostics);
    assert_eq!(format!("{} {}", loaded.diagnostics[0].code, loaded.diagnostics[0].message), repaired);
    assert_eq!(
        loaded.value.get("weather").unwrap().parameters(),
        &json!({"type": "object", "properties": {"city": {"type": "string"},
            "days": {"type": "array", "items": {"type": "integer"}},
            "any": {"anyOf": [{"type": "number"}, {"type": "null"}]}}, "required": ["city", "days", "any"]})
    );
    let class = json!([{"name": "weather", "args_schema": "<class '__main__.Weather'>"}]);
    refused(&class.to_string(), "bad-tool", "`args_schema` is not a JSON Schema", "model_json_schema()");
}

#[test]
fn cohere() {
    let list = json!([{"name": "weather", "description": "Get it.", "parameter_definitions": {
        "city": {"type": "str", "required": true}, "days": {"type": "int", "description": "How many.", "required": false}}}]);
    let loaded = Catalog::import(&list.to_string(), "t.json", None);
    let parameters = json!({"type": "object", "properties": {"city": {"type": "string"},
        "days": {"type": "integer", "description": "How many."}}, "required": ["city"]});
    assert_eq!(loaded.value.get("weather").unwrap().parameters(), &parameters);
    assert_eq!(loaded.value.get("weather").unwrap().format(), Some(Format::Mcp));
}

#[test]
fn the_object_of_tools_of_ai_sdk() {
    for own in [
        json!({"description": "Get it.", "inputSchema": {"jsonSchema": schema()}}),
        json!({"description": "Get it.", "parameters": {"jsonSchema": schema()}, "type": "function"}),
        json!({"description": "Get it.", "inputSchema": schema()}),
    ] {
        check(&json!({"weather": own}), &tool(), &[]);
        check(&json!({"tools": {"weather": own}}), &tool(), &[]);
    }
    let zod = json!({"weather": {"inputSchema": {"_def": {"typeName": "ZodObject"}}}});
    refused(&zod.to_string(), "bad-tool", "`inputSchema` is a Zod object", "at /weather");
}

#[test]
fn bedrock_converse() {
    let spec = json!({"toolSpec": {"name": "weather", "description": "Get it.", "inputSchema": {"json": schema()}}});
    check(&json!([spec]), &tool(), &[]);
    check(&json!({"toolConfig": {"tools": [spec], "toolChoice": {"auto": {}}}, "modelId": "m"}), &tool(), &[]);
    let whole = json!([spec, {"cachePoint": {"type": "default"}}, {"systemTool": {"name": "nova_grounding"}}]);
    let loaded = Catalog::import(&whole.to_string(), "t.json", None);
    assert_eq!(loaded.diagnostics, []);
    assert_eq!(loaded.value.to_json(Format::BedrockConverse), whole.to_string());
    assert_eq!(loaded.value.foreign().map(|entry| &*entry.label).collect::<Vec<_>>(), ["cachePoint", "systemTool"]);
    let bad = json!([{"toolSpec": {"name": "weather", "inputSchema": schema()}}]);
    refused(&bad.to_string(), "bad-tool", "`inputSchema` must be {\"json\": {…}}", "at /0");
}

#[test]
fn a_page_of_a_list_is_reported() {
    let page = |cursor: Value| json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool()], "nextCursor": cursor}});
    check(&page(json!("abc")), &tool(), &["partial-list the list is one page of several: it has a `nextCursor`"]);
    check(&page(Value::Null), &tool(), &[]);
    check(
        &page(json!("abc"))["result"],
        &tool(),
        &["partial-list the list is one page of several: it has a `nextCursor`"],
    );
}

#[test]
fn another_format_is_answered_with_what_is_accepted() {
    refused(r#"{"swagger":"2.0","paths":{}}"#, "no-tools", "which has the keys `swagger`, `paths`", "\"toolConfig\"");
    refused("{}", "no-tools", "which is empty", "tools/list");
    refused(r#"["weather"]"#, "bad-tool", "must be an object, not a string", "a tool looks like");
    let own = json!([{"name": "weather", "schema": schema()}]);
    let loaded = Catalog::import(&own.to_string(), "t.json", None);
    assert_eq!(
        loaded.diagnostics[0].to_string(),
        "warning[no-schema] t.json:1:2 at /0: tool `weather` has no parameters: its key `schema` is not read as a schema \
         (openai-responses has the schema in `parameters`)"
    );
    let mixed = json!([{"type": "function", "function": {"name": "a"}}, {"name": "b", "args_schema": schema()}]);
    let loaded = Catalog::import(&mixed.to_string(), "t.json", None);
    assert_eq!(loaded.diagnostics[0].code, "mixed-formats");
    assert!(loaded.diagnostics[0].message.contains("LangChain and crewAI in a list of openai-chat"));
}

/// Notes about a schema name its place below the tool.
#[test]
fn notes_about_a_schema_have_its_place() {
    let bad = json!({"type": "object", "properties": {"a": {"type": "int"}}});
    for (list, place) in [
        (json!([{"name": "a", "inputSchema": bad}]), "t.json:1:2 at /0/inputSchema"),
        (
            json!([{"type": "function", "function": {"name": "a", "parameters": bad}}]),
            "t.json:1:2 at /0/function/parameters",
        ),
        (json!([{"type": "function", "name": "a", "parameters": bad}]), "t.json:1:2 at /0/parameters"),
        (json!({"tools": [{"name": "a", "input_schema": bad}]}), "t.json:1:11 at /tools/0/input_schema"),
    ] {
        let loaded = Catalog::import(&list.to_string(), "t.json", None);
        assert_eq!(loaded.diagnostics[0].place.to_string(), place);
    }
}
