//! The tables, and their migration by their owner.

use super::address::Address;
use super::database::{Database, wait_for};
use super::failure::Failure;
use super::session::{Purpose, Session, get};
use crate::error::GatewayError;

/// One step for each version of the tables. A released step never changes; new ones are appended.
const STEPS: &[&str] = &[include_str!("tables_1.sql")];

/// The key of the advisory lock of a migration: "toolfold" in ASCII.
const LOCK: i64 = 0x746f_6f6c_666f_6c64;

/// What the role of the replicas may do with each table. Audit records are only added.
const RIGHTS: &[(&str, &str)] = &[
    ("audit", "SELECT, INSERT"),
    ("head", "SELECT, INSERT, UPDATE"),
    ("approval", "SELECT, INSERT, UPDATE, DELETE"),
    ("remembered", "SELECT, INSERT, UPDATE"),
    ("counted", "SELECT, INSERT, UPDATE"),
    ("conversation", "SELECT, INSERT, UPDATE, DELETE"),
    ("used", "SELECT, INSERT, UPDATE"),
    ("message", "SELECT, INSERT"),
    ("pin", "SELECT, INSERT, UPDATE"),
    ("version", "SELECT"),
];

/// Creates the tables, or migrates them to the newest version, and gives the role `app` its rights.
/// Must run as the role that owns, or is to own, the schema `toolfold`. Of several migrations at
/// once, one does the work. Returns the number of steps that were necessary.
///
/// # Errors
/// [`GatewayError`] if the database cannot be reached or refuses, if a newer program wrote the
/// tables, or if `app` is not an existing role other than the owner. Then nothing has changed.
pub fn migrate(address: &Address, app: &str) -> Result<usize, GatewayError> {
    let database = Database::unchecked(address)?;
    let (place, app) = (address.of_tenant("").to_string(), app.to_owned());
    let done = wait_for(async move { run_steps(&database, &app).await });
    done.and_then(|done| done).map_err(|why| GatewayError::new(format!("{place}: {why}")))
}

async fn run_steps(database: &Database, app: &str) -> Result<usize, Failure> {
    let session = Session::begin(database, "", Purpose::Write).await?;
    // Another process may be migrating for a while.
    session.run("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '20s'").await?;
    session.rows("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    let role = session.row("SELECT rolname = current_user FROM pg_roles WHERE rolname = $1", &[&app]).await?;
    match role.map(|row| get::<bool>(&row, 0)).transpose()? {
        None => {
            return Err(Failure::other(format!(
                "there is no role `{app}`; create it: CREATE ROLE {app} LOGIN PASSWORD '…'"
            )));
        }
        Some(true) => {
            return Err(Failure::other(format!(
                "`{app}` is the role of this connection, which owns the tables; replicas need another role, which \
                 cannot change audit records"
            )));
        }
        Some(false) => {}
    }
    session
        .run(
            "CREATE SCHEMA IF NOT EXISTS toolfold;
             CREATE TABLE IF NOT EXISTS toolfold.version (step integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())",
        )
        .await?;
    let done = steps_done(&session).await?;
    let mut run = 0;
    for (number, step) in (1_i32..).zip(STEPS).skip(done) {
        session.run(step).await?;
        session.execute("INSERT INTO toolfold.version (step) VALUES ($1)", &[&number]).await?;
        run += 1;
    }
    for (table, rights) in RIGHTS {
        // The server quotes the names.
        let sql = "SELECT format('REVOKE ALL ON toolfold.%I FROM %I; GRANT %s ON toolfold.%I TO %I',
                                 $1::text, $3::text, $2::text, $1::text, $3::text)";
        run_made(&session, sql, &[table, rights, &app]).await?;
    }
    let sql = "SELECT format('GRANT USAGE ON SCHEMA toolfold TO %I;
                              GRANT EXECUTE ON FUNCTION toolfold.remove_expired() TO %I', $1::text, $1::text)";
    run_made(&session, sql, &[&app]).await?;
    session.commit().await?;
    Ok(run)
}

/// Runs the statements that a query makes.
async fn run_made(session: &Session, sql: &str, values: super::session::Values<'_>) -> Result<(), Failure> {
    let Some(row) = session.row(sql, values).await? else { return Ok(()) };
    let made: String = get(&row, 0)?;
    session.run(&made).await
}

/// The number of steps that a database has. An error if a newer program has run more.
async fn steps_done(session: &Session) -> Result<usize, Failure> {
    let row = session.row("SELECT coalesce(max(step), 0) FROM toolfold.version", &[]).await?;
    let done = row.map_or(Ok(0), |row| get::<i32>(&row, 0))?;
    match usize::try_from(done) {
        Ok(done) if done <= STEPS.len() => Ok(done),
        _ => Err(Failure::other(format!(
            "its tables have version {done}, this program supports up to {}: use a newer version of toolfold",
            STEPS.len()
        ))),
    }
}

/// Checks that the tables exist and are current, and that the role cannot change audit records.
pub(super) async fn check_schema(session: &Session) -> Result<(), Failure> {
    let help = "the owner of the database creates them with `toolfold gateway migrate`";
    // In this order: the server refuses to look into a schema that the role may not use.
    for sql in [
        "SELECT has_schema_privilege(oid, 'USAGE') FROM pg_namespace WHERE nspname = 'toolfold'",
        "SELECT has_table_privilege(to_regclass('toolfold.version'), 'SELECT')",
    ] {
        let row = session.row(sql, &[]).await?;
        if !row.map_or(Ok(None), |row| get::<Option<bool>>(&row, 0))?.unwrap_or(false) {
            return Err(Failure::other(format!("it has no tables of toolfold that this role may read; {help}")));
        }
    }
    let done = steps_done(session).await?;
    if done < STEPS.len() {
        return Err(Failure::other(format!(
            "its tables have version {done}, this program needs {}; `toolfold gateway migrate` updates them",
            STEPS.len()
        )));
    }
    let sql = "SELECT (rolsuper OR rolbypassrls
                   OR has_table_privilege('toolfold.audit', 'UPDATE')
                   OR has_table_privilege('toolfold.audit', 'DELETE')
                   OR has_table_privilege('toolfold.audit', 'TRUNCATE')), rolname::text
               FROM pg_roles WHERE rolname = current_user";
    let row = session.row(sql, &[]).await?.ok_or_else(|| Failure::other("the role of the connection is unknown"))?;
    if get::<bool>(&row, 0)? {
        return Err(Failure::other(format!(
            "the role `{}` could change or delete audit records; connect as the role that `toolfold gateway migrate \
             --app-role` names",
            get::<String>(&row, 1)?
        )));
    }
    Ok(())
}
