//! Where the browser comes back to: a port of this machine, for as long as a login takes (RFC 8252, section 7.3).

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use reqwest::Url;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// The largest head of a request that is read, in bytes.
const MAX_HEAD: usize = 32 * 1024;

/// How long a browser may take to send its request: some open connections that they do not use.
const TIME: Duration = Duration::from_secs(30);

const PATH: &str = "/callback";

/// What the browser brought.
pub(super) struct Answer {
    pub(super) code: Option<String>,
    pub(super) error: Option<String>,
    /// Who gave the answer (RFC 9207).
    pub(super) iss: Option<String>,
}

/// See the module.
pub(super) struct Redirect {
    listener: TcpListener,
    /// The address for the browser.
    pub(super) uri: String,
}

impl Redirect {
    /// Listens on the port that is `wanted`, or on the `usual` one if that is free, or on any.
    pub(super) async fn listen(wanted: Option<u16>, usual: Option<u16>) -> Result<Self, String> {
        let bind = |port: u16| TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let listener = match (wanted, usual) {
            (Some(port), _) => bind(port).await.map_err(|why| format!("port {port} cannot be listened on: {why}"))?,
            (None, usual) => {
                let first = match usual {
                    Some(port) => bind(port).await.ok(),
                    None => None,
                };
                match first {
                    Some(listener) => listener,
                    None => bind(0).await.map_err(|why| format!("no port can be listened on: {why}"))?,
                }
            }
        };
        let port = listener.local_addr().map_err(|why| why.to_string())?.port();
        Ok(Self { listener, uri: format!("http://127.0.0.1:{port}{PATH}") })
    }

    /// Waits for the answer to the request that has this `state`. Anything else is refused, and waited on; `strange` is told.
    pub(super) async fn wait_for_answer(&self, state: &str, mut strange: impl FnMut()) -> Result<Answer, String> {
        let (to, mut answers) = mpsc::channel(1);
        loop {
            tokio::select! {
                accepted = self.listener.accept() => {
                    let (stream, _) = accepted.map_err(|why| format!("the browser cannot be heard: {why}"))?;
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

/// One request. The inner `None`: it came to the right place with a wrong `state`.
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
        write_response(&mut stream, "404 Not Found", "There is nothing here.").await?;
        return Ok(None);
    };
    // A parameter that comes twice is none (OAuth 2.1, section 3.1).
    let param = |name: &str| {
        let mut all = url.query_pairs().filter(|(own, _)| own == name).map(|(_, value)| value.into_owned());
        all.next().filter(|_| all.next().is_none())
    };
    if param("state").as_deref() != Some(state) {
        write_response(&mut stream, "400 Bad Request", "This is not the answer to the login that toolfold waits for.")
            .await?;
        return Ok(Some(None));
    }
    write_response(
        &mut stream,
        "200 OK",
        "toolfold has the answer. You can close this page; the terminal says how it went.",
    )
    .await?;
    Ok(Some(Some(Answer { code: param("code"), error: param("error"), iss: param("iss") })))
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
