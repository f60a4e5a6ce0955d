//! The redirect target of one login: a port of this machine (RFC 8252, section 7.3).

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use reqwest::Url;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// The maximum size of a request's head, in bytes.
const MAX_HEAD: usize = 32 * 1024;

/// Time limit for a browser to send its request: some open connections that they do not use.
const TIME: Duration = Duration::from_secs(30);

const PATH: &str = "/callback";

pub(super) struct Answer {
    pub(super) code: Option<String>,
    pub(super) error: Option<String>,
    /// The issuer of the response (RFC 9207).
    pub(super) iss: Option<String>,
}

pub(super) struct Redirect {
    listener: TcpListener,
    pub(super) uri: String,
}

impl Redirect {
    /// Listens on port `wanted`, or on `usual` if it is free, or on any.
    pub(super) async fn listen(wanted: Option<u16>, usual: Option<u16>) -> Result<Self, String> {
        let listener = match (wanted, usual) {
            (Some(port), _) => bind(port).await.map_err(|why| format!("cannot listen on port {port}: {why}"))?,
            (None, usual) => {
                let first = match usual {
                    Some(port) => bind(port).await.ok(),
                    None => None,
                };
                match first {
                    Some(listener) => listener,
                    None => bind(0).await.map_err(|why| format!("cannot listen on any port: {why}"))?,
                }
            }
        };
        let port = listener.local_addr().map_err(|why| why.to_string())?.port();
        Ok(Self { listener, uri: format!("http://127.0.0.1:{port}{PATH}") })
    }

    /// Waits for the request with this `state`. Calls `strange` for a wrong `state`.
    pub(super) async fn wait_for_answer(&self, state: &str, mut strange: impl FnMut()) -> Result<Answer, String> {
        let (to, mut answers) = mpsc::channel(1);
        loop {
            tokio::select! {
                accepted = self.listener.accept() => {
                    let (stream, _) = accepted.map_err(|why| format!("cannot accept the browser's connection: {why}"))?;
                    let (to, state) = (to.clone(), state.to_owned());
                    tokio::spawn(async move {
                        if let Ok(Ok(Some(own))) = tokio::time::timeout(TIME, serve(stream, &state)).await {
                            drop(to.send(own).await);
                        }
                    });
                }
                Some(own) = answers.recv() => match own {
                    Some(answer) => return Ok(answer),
                    None => strange(),
                },
            }
        }
    }
}

/// Serves one request. The inner `None`: a request to the right path with a wrong `state`.
async fn serve(mut stream: TcpStream, state: &str) -> std::io::Result<Option<Option<Answer>>> {
    let mut head = Vec::new();
    let mut part = [0; 4096];
    while !head.windows(4).any(|own| own == b"\r\n\r\n") {
        let read = stream.read(&mut part).await?;
        if read == 0 || head.len() + read > MAX_HEAD {
            return Ok(None);
        }
        head.extend_from_slice(part.get(..read).unwrap_or_default());
    }
    let head = String::from_utf8_lossy(&head);
    let mut words = head.split(' ');
    let target = match (words.next(), words.next()) {
        (Some("GET"), Some(target)) if target.starts_with('/') => target,
        _ => "/",
    };
    let url = Url::parse(&format!("http://127.0.0.1{target}")).ok().filter(|url| url.path() == PATH);
    let Some(url) = url else {
        write_response(&mut stream, "404 Not Found", "Not found.").await?;
        return Ok(None);
    };
    // A repeated parameter is invalid (OAuth 2.1, section 3.1).
    let [given, code, error, iss] = ["state", "code", "error", "iss"].map(|name| {
        let mut all = url.query_pairs().filter(|(own, _)| own == name).map(|(_, value)| value.into_owned());
        all.next().filter(|_| all.next().is_none())
    });
    if given.as_deref() != Some(state) {
        write_response(&mut stream, "400 Bad Request", "This is not a response to toolfold's current login.").await?;
        return Ok(Some(None));
    }
    write_response(
        &mut stream,
        "200 OK",
        "toolfold received the response. You can close this page; the terminal shows the result.",
    )
    .await?;
    Ok(Some(Some(Answer { code, error, iss })))
}

async fn bind(port: u16) -> std::io::Result<TcpListener> {
    TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await
}

async fn write_response(stream: &mut TcpStream, status: &str, text: &str) -> std::io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.shutdown().await
}
