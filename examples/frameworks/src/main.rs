//! Runs an example: `cargo run -p toolfold-examples rig`

use std::error::Error;

use toolfold_examples::{async_openai, genai, rig, turn};

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).unwrap_or_default();
    let turns = match name.as_str() {
        "async_openai" => async_openai::run()?,
        "genai" => genai::run()?,
        "rig" => rig::run()?,
        _ => return Err("which one: async_openai, genai or rig".into()),
    };
    turn::print(turns);
    Ok(())
}
