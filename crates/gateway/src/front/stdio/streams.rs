//! Standard input and output without an extra thread if they are pipes or sockets, which is usual
//! for a program that another one starts.

use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, BufReader};

type Input = Box<dyn AsyncBufRead + Send + Unpin>;
type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// The size of the read buffer, in bytes.
const BUFFER: usize = 64 * 1024;

fn buffered(input: impl AsyncRead + Send + Unpin + 'static) -> Input {
    Box::new(BufReader::with_capacity(BUFFER, input))
}

#[cfg(unix)]
pub(super) fn standard() -> std::io::Result<(Input, Output)> {
    use std::os::fd::AsFd;

    use rustix::fs::{FileType, fstat};
    use tokio::net::UnixStream;
    use tokio::net::unix::pipe;

    let kind = |fd: std::os::fd::BorrowedFd<'_>| fstat(fd).map(|stat| FileType::from_raw_mode(stat.st_mode));
    let (stdin, stdout) = (std::io::stdin(), std::io::stdout());
    let socket = |fd: std::os::fd::OwnedFd| {
        let socket = std::os::unix::net::UnixStream::from(fd);
        socket.set_nonblocking(true)?;
        UnixStream::from_std(socket)
    };
    let input = match kind(stdin.as_fd()) {
        Ok(FileType::Fifo) => buffered(pipe::Receiver::from_owned_fd(stdin.as_fd().try_clone_to_owned()?)?),
        Ok(FileType::Socket) => buffered(socket(stdin.as_fd().try_clone_to_owned()?)?),
        _ => buffered(tokio::io::stdin()),
    };
    let output: Output = match kind(stdout.as_fd()) {
        Ok(FileType::Fifo) => Box::new(pipe::Sender::from_owned_fd(stdout.as_fd().try_clone_to_owned()?)?),
        Ok(FileType::Socket) => Box::new(socket(stdout.as_fd().try_clone_to_owned()?)?),
        _ => Box::new(tokio::io::stdout()),
    };
    Ok((input, output))
}

#[cfg(not(unix))]
pub(super) fn standard() -> std::io::Result<(Input, Output)> {
    Ok((buffered(tokio::io::stdin()), Box::new(tokio::io::stdout())))
}
