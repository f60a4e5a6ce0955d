//! The connections of clients: how many there are, how long each may be silent, and which ones end
//! first when there are too many.
//!
//! A connection without a complete request costs its client nothing and needs no token. So it has a
//! deadline, and it ends early if a new client needs its place.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, Request};
use axum::middleware::Next;
use axum::response::Response;
use axum::serve::IncomingStream;
use futures_util::task::AtomicWaker;
use futures_util::{StreamExt, stream};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, Sleep};

use super::site::check_host;
use super::{EVENTS, Times, plain_text};

/// Connections above the maximum that are accepted: they receive 503, or the answer of `/healthz`.
const EXTRA: usize = 32;

/// How long `/healthz` reports a rejection.
const RECENT: Duration = Duration::from_secs(60);

/// `Retry-After` of 503, in seconds: a silent connection ends within that time.
const RETRY_AFTER: &str = "10";

#[derive(Debug, Clone, Copy)]
enum Phase {
    /// No byte of the next request has arrived since then.
    Waiting(Instant),
    /// The request is incomplete, and its first byte arrived then.
    Reading(Instant),
    /// The request is being answered.
    Answering,
}

#[derive(Debug)]
struct Shared {
    number: u64,
    phase: Mutex<Phase>,
    /// Whether it has sent a complete request.
    has_asked: AtomicBool,
    /// Whether it was accepted above the maximum.
    is_extra: bool,
    is_evicted: AtomicBool,
    task: AtomicWaker,
}

/// The place of one connection.
#[derive(Debug, Clone)]
pub(super) struct Place(Arc<Shared>);

impl Place {
    fn phase(&self) -> MutexGuard<'_, Phase> {
        self.0.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports that the request is complete: the connection ends neither early nor by a deadline.
    pub(super) fn is_complete(&self) {
        self.0.has_asked.store(true, Ordering::Release);
        *self.phase() = Phase::Answering;
    }

    fn deadline(&self, times: &Times) -> Option<Instant> {
        match *self.phase() {
            Phase::Waiting(since) => Some(since + times.idle),
            Phase::Reading(since) => Some(since + times.request),
            Phase::Answering => None,
        }
    }

    /// The order in which connections end early; `None` for one that is answered.
    fn rank(&self) -> Option<(bool, Instant)> {
        match *self.phase() {
            Phase::Waiting(since) | Phase::Reading(since) => Some((self.0.has_asked.load(Ordering::Acquire), since)),
            Phase::Answering => None,
        }
    }

    fn evict(&self) {
        self.0.is_evicted.store(true, Ordering::Release);
        self.0.task.wake();
    }
}

/// Ends the answer of a request when it is dropped.
struct Answer(Place);

impl Drop for Answer {
    fn drop(&mut self) {
        *self.0.phase() = Phase::Waiting(Instant::now());
    }
}

/// The open connections of the gateway.
#[derive(Debug)]
pub(super) struct Connections {
    most: usize,
    times: Times,
    open: Mutex<(u64, BTreeMap<u64, Place>)>,
    /// The last rejection with 503: when, and why.
    rejection: Mutex<Option<(Instant, String)>>,
}

impl Connections {
    pub(super) fn new(most: usize, times: Times) -> Self {
        Self { most, times, open: Mutex::default(), rejection: Mutex::default() }
    }

    /// Records a rejection, for [`Self::overload`].
    pub(super) fn rejected(&self, why: &str) {
        let mut rejection = self.rejection.lock().unwrap_or_else(PoisonError::into_inner);
        *rejection = Some((Instant::now(), why.to_owned()));
    }

    /// Why a request was last rejected for lack of connections or sessions, in the last minute.
    pub(super) fn overload(&self) -> Option<String> {
        let rejection = self.rejection.lock().unwrap_or_else(PoisonError::into_inner);
        rejection.as_ref().filter(|(when, _)| when.elapsed() < RECENT).map(|(_, why)| why.clone())
    }

    fn lock(&self) -> MutexGuard<'_, (u64, BTreeMap<u64, Place>)> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a new connection. Above the maximum, the connection that is silent longest ends.
    /// `None` if all are being answered.
    fn admit(&self) -> Option<Place> {
        let (next, open) = &mut *self.lock();
        let is_extra = open.len() >= self.most && !evict(open);
        if is_extra {
            self.rejected(&format!("all {} connections are in use", self.most));
            if open.len() >= self.most + EXTRA {
                return None;
            }
        }
        *next += 1;
        let place = Place(Arc::new(Shared {
            number: *next,
            phase: Mutex::new(Phase::Waiting(Instant::now())),
            has_asked: AtomicBool::default(),
            is_extra,
            is_evicted: AtomicBool::default(),
            task: AtomicWaker::new(),
        }));
        open.insert(*next, place.clone());
        Some(place)
    }
}

/// Ends the connection that is silent longest, first of those that have never sent a request.
fn evict(open: &mut BTreeMap<u64, Place>) -> bool {
    let silent = open.iter().filter_map(|(number, place)| Some((place.rank()?, *number)));
    let victim = silent.min().and_then(|(_, number)| open.remove(&number));
    victim.inspect(Place::evict).is_some()
}

/// Accepts connections up to a maximum.
pub(super) struct Listener {
    pub(super) port: TcpListener,
    pub(super) connections: Arc<Connections>,
}

impl axum::serve::Listener for Listener {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            match self.port.accept().await {
                Ok((stream, address)) => {
                    let Some(place) = self.connections.admit() else { continue };
                    // Small messages are sent immediately; without it, they are only delayed.
                    drop(stream.set_nodelay(true));
                    let silent = Box::pin(tokio::time::sleep(self.connections.times.idle));
                    let connections = self.connections.clone();
                    return (Connection { stream, place, connections, silent, blocked: None }, address);
                }
                Err(why) => {
                    tracing::warn!("cannot accept a connection: {why}");
                    // The process may have too many open files.
                    evict(&mut self.connections.lock().1);
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.port.local_addr()
    }
}

impl Connected<IncomingStream<'_, Listener>> for Place {
    fn connect_info(stream: IncomingStream<'_, Listener>) -> Self {
        stream.io().place.clone()
    }
}

/// A connection that ends at its deadline, or when its place is given to another one.
pub(super) struct Connection {
    stream: TcpStream,
    place: Place,
    connections: Arc<Connections>,
    silent: Pin<Box<Sleep>>,
    /// Since when the client has not read.
    blocked: Option<Instant>,
}

impl Connection {
    /// Completes when the connection must end.
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        self.place.0.task.register(context.waker());
        if self.place.0.is_evicted.load(Ordering::Acquire) {
            return Poll::Ready(io::ErrorKind::ConnectionAborted.into());
        }
        let times = &self.connections.times;
        let blocked = self.blocked.map(|since| since + times.unread);
        let Some(deadline) = self.place.deadline(times).into_iter().chain(blocked).min() else { return Poll::Pending };
        if self.silent.deadline() != deadline {
            self.silent.as_mut().reset(deadline);
        }
        ready!(self.silent.as_mut().poll(context));
        Poll::Ready(io::ErrorKind::TimedOut.into())
    }

    fn wrote<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.blocked = None;
            if let waiting @ Phase::Waiting(_) = &mut *self.place.phase() {
                *waiting = Phase::Waiting(Instant::now());
            }
            return written;
        }
        self.blocked.get_or_insert_with(Instant::now);
        self.poll_end(context).map(Err)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.connections.lock().1.remove(&self.place.0.number);
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Poll::Ready(why) = self.poll_end(context) {
            return Poll::Ready(Err(why));
        }
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let phase = &mut *self.place.phase();
        if let Phase::Waiting(_) = phase {
            *phase = Phase::Reading(Instant::now());
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.wrote(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.wrote(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Keeps the place of a connection while its request is answered, and rejects a request that names
/// two hosts. The body of a POST is read first, by the handler, which then reports it with
/// [`Place::is_complete`].
pub(super) async fn keep_place(ConnectInfo(place): ConnectInfo<Place>, request: Request, next: Next) -> Response {
    if place.0.is_extra && request.uri().path() != "/healthz" {
        let why = "all connections of the gateway are in use; try again later";
        let mut response = try_later(plain_text(StatusCode::SERVICE_UNAVAILABLE, why));
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        return response;
    }
    let answer = Answer(place);
    if request.method() != Method::POST {
        answer.0.is_complete();
    }
    if let Err(refused) = check_host(&request) {
        return refused;
    }
    let response = next.run(request).await;
    if !is_stream(response.headers()) {
        return response;
    }
    let (parts, body) = response.into_parts();
    let streamed = stream::unfold((body.into_data_stream(), answer), |(mut body, answer)| async move {
        let part = body.next().await?;
        Some((part, (body, answer)))
    });
    Response::from_parts(parts, Body::from_stream(streamed))
}

fn is_stream(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == EVENTS)
}

/// Adds the time after which the client should try again.
pub(super) fn try_later(mut response: Response) -> Response {
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER));
    response
}
