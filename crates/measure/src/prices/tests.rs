//! The price table.

use super::*;

#[test]
fn the_builtin_table_is_valid_and_every_row_has_a_source() {
    let loaded = PriceTable::from_toml(SHIPPED, "prices.toml");
    assert_eq!(loaded.diagnostics, vec![]);
    assert!(loaded.value.rows().count() >= 19);
    for row in loaded.value.rows() {
        for model in &row.models {
            assert_eq!(loaded.value.row_for_model(model), Some(row), "{model} is priced once");
            let id = ModelId::parse(model);
            assert!(id.vendor.is_some() && id.version.is_some(), "{model} is read as a model in any spelling");
        }
        let TokenPrices { input, cache_write, cache_read, output, .. } = row.prices;
        assert!(cache_read < input && input <= cache_write && input < output, "{:?}", row.models);
    }
}

#[test]
fn every_spelling_of_a_model_has_its_price_and_other_models_do_not() {
    let table = PriceTable::builtin();
    let input = |model: &str| table.row_for_model(model).map(|row| row.prices.input);
    for spelling in [
        "claude-opus-4.5",
        "claude-opus-4-5-20251101",
        "anthropic/claude-opus-4.5:beta",
        "us.anthropic.claude-opus-4-5-20251101-v1:0",
        "vertex_ai/claude-opus-4-5@20251101",
        "anthropic:claude-opus-4-5-latest",
        "Claude-Opus-4.5",
    ] {
        assert_eq!(input(spelling), Some(5.0), "{spelling}");
    }
    assert_eq!(input("openai/gpt-5.4-mini"), Some(0.75));
    assert_eq!(input("gpt-5.4-2026-03-05"), Some(2.5));
    for other in ["gpt-5.4-nano", "gpt-5.4-codex", "gpt-5.3", "claude-opus-4", "claude-opus", "my-model", "", "gpt"] {
        assert_eq!(input(other), None, "{other}");
    }
}

/// Arm `auto` prices by the capability table, `sim` by this one: no fact is in both.
#[test]
fn the_capability_table_is_the_only_source_of_cache_rules() {
    for own in ["\nminimum", "\nstep", "\nlifetime", "\nlong", "\ncache_write"] {
        assert!(!SHIPPED.contains(own), "{own}");
    }
    assert_eq!(SHIPPED.matches("\ncache_read").count(), 1, "a price that is not a whole thousandth of input");
    for row in PriceTable::builtin().rows() {
        for model in &row.models {
            assert_eq!(known_cache(model).unwrap().cache(), row.rules, "{model}");
        }
    }
    let minimum = |model: &str| PriceTable::builtin().row_for_model(model).map(|row| row.rules.minimum);
    for (model, expected) in [
        ("claude-opus-5", 512),
        ("claude-opus-5.5", 512),
        ("claude-opus-4.7", 1_024),
        ("claude-sonnet-5", 1_024),
        ("claude-sonnet-5.5", 1_024),
        ("claude-haiku-4.5", 4_096),
        ("claude-haiku-5.5", 1_024),
    ] {
        assert_eq!(minimum(model), Some(expected), "{model}");
    }
}

const OWN: &str =
    "[[price]]\nmodels = ['my-model', 'gpt-5.4']\ninput = 2\noutput = 8\nsource = 'own'\ndate = '2026-11'\n";

#[test]
fn own_rows_precede_builtin_ones() {
    let own = PriceTable::from_toml(OWN, "own.toml").into_result().unwrap();
    let both = own.over(PriceTable::builtin());
    assert_eq!(both.row_for_model("gpt-5.4").unwrap().prices.input, 2.0);
    assert_eq!(both.row_for_model("gpt-5.5").unwrap().prices.input, 5.0);
    let one = PriceTable::from_toml(&OWN.replace("'my-model', ", ""), "own.toml").into_result().unwrap();
    let rules = one.row_for_model("gpt-5.4").unwrap().rules;
    assert_eq!((rules.read, rules.minimum), (100, 1_024), "omitted facts are those of the model");
    let mine = both.row_for_model("My-Model").unwrap();
    assert_eq!((mine.rules, mine.context), (CacheRules::NONE, None), "without cache prices there is no cache");
    assert_eq!(both.row_for_model("my-model-2"), None);
}

#[test]
fn a_longer_lived_cache_costs_more_to_write() {
    let row = PriceTable::builtin().row_for_model("claude-sonnet-5.5").unwrap();
    let long = row.with_long_cache().unwrap();
    assert_eq!((row.rules.write, row.rules.lifetime), (1_250, Some(300)));
    assert_eq!((long.rules.write, long.rules.lifetime, long.prices.cache_write), (2_000, Some(3_600), 4.0));
    assert_eq!(PriceTable::builtin().row_for_model("gpt-5.4").unwrap().with_long_cache(), None);
}

#[track_caller]
fn refused(rows: &str, code: &str, because: &str) {
    let loaded = PriceTable::from_toml(rows, "own.toml");
    let said: Vec<String> = loaded.diagnostics.iter().map(|own| format!("{} {}", own.code, own.message)).collect();
    assert!(said.iter().any(|own| own.starts_with(code) && own.contains(because)), "{said:?}");
    assert_eq!(loaded.value.rows().count(), 0);
}

#[test]
fn invalid_prices_are_rejected() {
    refused(&OWN.replace("'own'", "' '"), "bad-price", "no source");
    refused(&OWN.replace("input = 2", "input = -2"), "bad-price", "input = -2");
    refused(&OWN.replace("output = 8", "output = inf"), "bad-price", "output = inf");
    refused(&OWN.replace("output = 8", "output = nan"), "bad-price", "output = NaN");
    refused(&OWN.replace("['my-model', 'gpt-5.4']", "[]"), "bad-price", "no model");
    refused(&OWN.replace("output", "outputs"), "bad-prices", "outputs");
    refused("price = 3", "bad-prices", "");
}

#[test]
fn free_input_does_not_divide_by_zero() {
    let own = PriceTable::from_toml(&OWN.replace("input = 2", "input = 0"), "own.toml").into_result().unwrap();
    assert!(!own.row_for_model("my-model").unwrap().rules.matters());
}
