//! `report --html`: the report as a page.

use std::path::Path;

use crate::input::Input;
use crate::out_file;
use crate::output::{Failure, emit_data, warn};
use toolfold::tokens::Meter;
use toolfold_measure::check::catalog_digest;
use toolfold_measure::html::{Page, html};
use toolfold_measure::lint::{Lint, Options, lint};
use toolfold_measure::parts::Measurer;
use toolfold_measure::report::Report;

/// Writes the page; `-` is standard output.
pub(super) fn write_page(file: &str, input: &Input, report: &Report, notes: Vec<String>) -> Result<(), Failure> {
    let mut page = Page::of_report(report, &title(input));
    if let Some(lint) = findings(input, report)? {
        page = page.with_findings(&lint);
    }
    page.notes = notes;
    page.made.push(("tools".to_owned(), format!("{}, digest {}", input.catalog.len(), catalog_digest(&input.catalog))));
    page.made.push(("toolfold".to_owned(), env!("CARGO_PKG_VERSION").to_owned()));
    let text = html(&page);
    if file == "-" {
        return emit_data(&text);
    }
    out_file::replace(Path::new(file), &text)?;
    warn(&format!("{file}: {} kB, for any browser", text.len().div_ceil(1_000)));
    Ok(())
}

fn findings(input: &Input, report: &Report) -> Result<Option<Lint>, Failure> {
    let Ok(meter) = report.meter.parse::<Meter>() else { return Ok(None) };
    let assignment = input.profile.as_ref().map(|profile| profile.assign(&input.catalog).value);
    let capabilities = input.capabilities()?;
    let mut options = Options::new();
    options.wire = report.pricing.wire.parse().ok();
    options.model = Some(&report.pricing.model);
    options.capabilities = &capabilities;
    options.assignment = assignment.as_ref();
    options.noticed = &input.diagnostics;
    let found = lint(&Measurer::new(&meter), &input.catalog, &options);
    found.map(Some).map_err(|why| Failure::unmeasured(format!("cannot be measured: {why}")))
}

/// The name of the tool set, without what must not be shared: folders, arguments, queries.
fn title(input: &Input) -> String {
    let tools = &input.config.settings.tools;
    let name =
        |file: &str| Path::new(file).file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    if input.builtin {
        return "The built-in Excel tools".to_owned();
    }
    if let Some(command) = &tools.mcp {
        let mut words = command.text.split_whitespace();
        let program = words.next().map(name).unwrap_or_default();
        let first = words.find(|word| !word.starts_with('-') && !word.contains('=')).unwrap_or_default();
        return format!("Tools of {program} {first}").trim_end().to_owned();
    }
    if let Some(url) = &tools.mcp_url {
        let address = url.split(['?', '#']).next().unwrap_or_default();
        let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let host = host.rsplit('@').next().unwrap_or_default();
        return format!("Tools of {scheme}://{host}/{path}");
    }
    match tools.mcp_config.as_deref().or(tools.file.as_deref()) {
        None | Some("-") => "Tools from standard input".to_owned(),
        Some(file) => format!("Tools of {}", name(file)),
    }
}
