//! The connections of this process to a database, and the thread that serves them.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod};
use tokio::runtime::{Builder, Handle, Runtime, RuntimeFlavor};
use tokio::sync::mpsc::UnboundedSender;
use toolfold::policy::StoreErrorKind;

use super::address::Address;
use super::failure::{Failure, Trouble};
use super::messages::Hearing;
use super::migrate::check_schema;
use super::session::{Purpose, Session, get};
use super::states::ServerClock;
use super::tls::Tls;
use super::writer::{Job, start_writer};
use crate::error::GatewayError;

/// The maximum number of connections of a process to one database.
pub const MAX_CONNECTIONS: usize = 8;

/// How long one attempt to connect, and the wait for a free connection, may take.
pub(super) const CONNECT: Duration = Duration::from_secs(3);

/// How long a caller waits for its operation, all attempts included.
const LIMIT: Duration = Duration::from_secs(30);

/// Time limits that the server enforces: of a statement, of a wait for a lock, and of a transaction
/// whose client does not go on. In milliseconds.
const OPTIONS: &str = "-c statement_timeout=2000 -c lock_timeout=2000 -c idle_in_transaction_session_timeout=10000";

/// A database that this process uses.
pub struct Database {
    pool: Pool,
    /// For messages: without the password.
    place: String,
    pub(super) clock: ServerClock,
    writers: Mutex<HashMap<Arc<str>, UnboundedSender<Job>>>,
    pub(super) hearing: Hearing,
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Database({})", self.place)
    }
}

/// The open databases, by address.
static OPEN: Mutex<BTreeMap<String, Weak<Database>>> = Mutex::new(BTreeMap::new());

/// The runtime of all connections. It outlives every runtime of the gateway, so that a connection
/// is not lost with the runtime of its first user.
static RUNTIME: OnceLock<Option<Runtime>> = OnceLock::new();

pub(super) fn runtime() -> Result<&'static Runtime, Failure> {
    let made = RUNTIME.get_or_init(|| {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(1).thread_name("toolfold-postgres").enable_all().build().ok()
    });
    made.as_ref().ok_or_else(|| Failure::other("the thread of the database cannot be started"))
}

impl Database {
    /// Opens a database whose schema exists, or returns the one that is open.
    ///
    /// # Errors
    /// [`GatewayError`] if it cannot be reached, if its schema is missing or has another version,
    /// or if the role could change audit records.
    pub fn open(address: &Address) -> Result<Arc<Self>, GatewayError> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(database) = open.get(&address.key).and_then(Weak::upgrade) {
            return Ok(database);
        }
        let database = Arc::new(Self::unchecked(address)?);
        let own = database.clone();
        let checked = wait_for(async move { own.check().await });
        checked.and_then(|checked| checked).map_err(|why| GatewayError::new(format!("{}: {why}", database.place)))?;
        open.insert(address.key.clone(), Arc::downgrade(&database));
        Ok(database)
    }

    /// A database whose schema may be missing. Connects to nothing yet.
    pub(super) fn unchecked(address: &Address) -> Result<Self, GatewayError> {
        let mut config = address.config.clone();
        config.application_name("toolfold").options(OPTIONS);
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        let hearing = Hearing::new(config.clone());
        let manager = Manager::from_config(config, Tls, ManagerConfig { recycling_method: RecyclingMethod::Fast });
        let pool = Pool::builder(manager)
            // One more hears of messages.
            .max_size(MAX_CONNECTIONS - 1)
            .wait_timeout(Some(CONNECT))
            .create_timeout(Some(CONNECT))
            .recycle_timeout(Some(CONNECT))
            .runtime(deadpool_postgres::Runtime::Tokio1)
            .build()
            .map_err(|why| GatewayError::new(why.to_string()))?;
        let (clock, writers) = (ServerClock::default(), Mutex::default());
        Ok(Self { pool, place: address.of_tenant("").to_string(), clock, writers, hearing })
    }

    async fn check(&self) -> Result<(), Failure> {
        let session = Session::begin(self, "", Purpose::Read).await?;
        check_schema(&session).await?;
        self.server_now(&session).await?;
        session.commit().await
    }

    /// The server's time in milliseconds since 1970, to which the clock is set.
    pub(super) async fn server_now(&self, session: &Session) -> Result<i64, Failure> {
        let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
        let row = session.row(sql, &[]).await?.ok_or_else(|| Failure::other("the database has no time"))?;
        let now = get(&row, 0)?;
        self.clock.set(now);
        Ok(now)
    }

    pub(super) async fn connection(&self) -> Result<Object, Failure> {
        Ok(self.pool.get().await?)
    }

    /// The queue of a tenant's changes.
    pub(super) fn writer(self: &Arc<Self>, tenant: &Arc<str>) -> Result<UnboundedSender<Job>, Failure> {
        let mut writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(writer) = writers.get(tenant).filter(|own| !own.is_closed()) {
            return Ok(writer.clone());
        }
        let writer = start_writer(runtime()?, self, tenant);
        writers.insert(tenant.clone(), writer.clone());
        Ok(writer)
    }
}

/// Runs an operation on the thread of the connections, and waits for its end.
pub(super) fn wait_for<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Result<T, Failure> {
    let (sender, receiver) = channel();
    runtime()?.spawn(async move { drop(sender.send(work.await)) });
    receive(|| receiver.recv_timeout(LIMIT))
}

/// Runs an operation on the thread of the connections.
pub(super) async fn run<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Result<T, Failure> {
    let task = runtime()?.spawn(work);
    match tokio::time::timeout(LIMIT, task).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(why)) => Err(Failure::other(why.to_string())),
        Err(_) => Err(late()),
    }
}

/// Waits on a thread that may be one of a gateway's: its other tasks move to another thread.
pub(super) fn receive<T>(wait: impl FnOnce() -> Result<T, RecvTimeoutError>) -> Result<T, Failure> {
    let is_shared = Handle::try_current().is_ok_and(|own| own.runtime_flavor() == RuntimeFlavor::MultiThread);
    let received = if is_shared { tokio::task::block_in_place(wait) } else { wait() };
    received.map_err(|why| match why {
        RecvTimeoutError::Timeout => late(),
        RecvTimeoutError::Disconnected => Failure::other("the operation was given up"),
    })
}

/// How long a caller waits for a change.
pub(super) fn limit() -> Duration {
    LIMIT
}

fn late() -> Failure {
    let why = format!("the database did not finish the operation in {} s", LIMIT.as_secs());
    Failure { kind: StoreErrorKind::Busy, why, trouble: Trouble::Final }
}
