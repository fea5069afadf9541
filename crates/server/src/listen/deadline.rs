//! A connection whose peer has to keep up.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

/// As many bytes have to come before the HTTP version is known; then HTTP's own limits hold.
const PREFACE: usize = 24;
/// How long a connection that we have closed still takes what its peer sends.
const LINGER: Duration = Duration::from_secs(3);
/// Bytes that are taken at a time then.
const DISCARDED: usize = 8 << 10;

/// Fails reads when the first bytes take too long, and writes when the peer takes nothing for too
/// long: a reader that stalls holds its buffers, its place and its run's log.
///
/// After our end it lingers: a system that still has unread bytes of the peer resets a connection that
/// is dropped, and the peer, which may read only when it has sent everything, loses its answer.
#[derive(Debug)]
pub(super) struct Deadlines<S> {
    stream: S,
    /// Until the first bytes are there.
    opening: Option<Pin<Box<Sleep>>>,
    read: usize,
    write_time: Duration,
    /// While the peer takes nothing.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Once our side is closed.
    lingering: Option<Pin<Box<Sleep>>>,
    /// The server ends: nobody lingers then.
    closing: CancellationToken,
}

impl<S> Deadlines<S> {
    pub(super) fn new(
        stream: S,
        opening_time: Duration,
        write_time: Duration,
        closing: CancellationToken,
    ) -> Self {
        Self {
            stream,
            opening: Some(Box::pin(sleep(opening_time))),
            read: 0,
            write_time,
            stalled: None,
            lingering: None,
            closing,
        }
    }

    /// Watches the outcome of a write.
    fn watch<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            // An answer stands for a request: the connection is open.
            self.opening = None;
            self.stalled = None;
            return written;
        }
        let stalled = self
            .stalled
            .get_or_insert_with(|| Box::pin(sleep(self.write_time)));
        ready!(stalled.as_mut().poll(cx));
        // Polled again, it must not be a future that has ended.
        stalled.as_mut().reset(Instant::now() + self.write_time);
        Poll::Ready(Err(late("the peer takes nothing")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Deadlines<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        let Some(opening) = &mut self.opening else {
            return polled;
        };
        if polled.is_pending() {
            ready!(opening.as_mut().poll(cx));
            self.opening = None;
            return Poll::Ready(Err(late("the peer sends nothing")));
        }
        self.read += buffer.filled().len() - before;
        if self.read >= PREFACE {
            self.opening = None;
        }
        polled
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Deadlines<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.watch(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.watch(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.lingering.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
        }
        if self.closing.is_cancelled() {
            return Poll::Ready(Ok(()));
        }
        self.poll_linger(cx).map(Ok)
    }
}

impl<S: AsyncRead + Unpin> Deadlines<S> {
    /// Takes what the peer sends until it closes its side, too, or has had its time.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let over = self
            .lingering
            .get_or_insert_with(|| Box::pin(sleep(LINGER)));
        let mut discarded = Zeroizing::new([0; DISCARDED]);
        // A peer that never stops keeps the timer from being polled, so the clock is asked.
        while Instant::now() < over.deadline() {
            let mut buffer = ReadBuf::new(discarded.as_mut());
            match Pin::new(&mut self.stream).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {}
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return over.as_mut().poll(cx),
            }
        }
        Poll::Ready(())
    }
}

fn late(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, what)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn watched<S>(stream: S, opening: Duration, write: Duration) -> Deadlines<S> {
        Deadlines::new(stream, opening, write, CancellationToken::new())
    }

    #[tokio::test(start_paused = true)]
    async fn a_closed_connection_takes_what_is_on_its_way_for_a_while() {
        let (ours, mut theirs) = duplex(4);
        let mut stream = watched(ours, SECOND, SECOND);
        let began = Instant::now();
        let close = tokio::spawn(async move { stream.shutdown().await });
        theirs.write_all(&[0; 100_000]).await.unwrap();
        assert_eq!(theirs.read(&mut [0]).await.unwrap(), 0, "ours is closed");
        close.await.unwrap().unwrap();
        assert_eq!(began.elapsed(), LINGER);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_both_sides_close_is_gone_at_once() {
        for ends in [true, false] {
            let (ours, theirs) = duplex(4);
            let closing = CancellationToken::new();
            let mut stream = Deadlines::new(ours, SECOND, SECOND, closing.clone());
            let _kept = if ends {
                drop(theirs);
                None
            } else {
                closing.cancel();
                Some(theirs)
            };
            let began = Instant::now();
            stream.shutdown().await.unwrap();
            assert_eq!(began.elapsed(), Duration::ZERO);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_sends_nothing_is_given_up() {
        let (ours, _theirs) = duplex(64);
        let mut stream = watched(ours, 5 * SECOND, SECOND);
        let began = Instant::now();
        let error = stream.read_u8().await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed().as_secs(), 5);
    }

    #[tokio::test(start_paused = true)]
    async fn half_a_preface_does_not_count_as_an_opening() {
        let (ours, mut theirs) = duplex(64);
        let mut stream = watched(ours, 5 * SECOND, SECOND);
        theirs.write_all(b"PRI * HTTP/2").await.unwrap();
        let mut read = Vec::new();
        assert!(stream.read_to_end(&mut read).await.is_err());
        assert_eq!(read, b"PRI * HTTP/2");
    }

    #[tokio::test(start_paused = true)]
    async fn an_open_connection_may_stay_silent() {
        let (ours, mut theirs) = duplex(64);
        let mut stream = watched(ours, 5 * SECOND, SECOND);
        theirs.write_all(&[b'x'; PREFACE]).await.unwrap();
        let mut read = [0; PREFACE];
        stream.read_exact(&mut read).await.unwrap();
        let waited = tokio::time::timeout(100 * SECOND, stream.read_u8()).await;
        assert!(waited.is_err(), "the read ended: {waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_takes_nothing_is_given_up_and_one_that_takes_a_little_is_not() {
        let (ours, mut theirs) = duplex(4);
        let mut stream = watched(ours, SECOND, 5 * SECOND);
        let write = tokio::spawn(async move {
            stream.write_all(&[0; 16]).await?;
            stream.write_all(&[0; 16]).await
        });
        for _ in 0..4 {
            tokio::time::sleep(4 * SECOND).await;
            theirs.read_exact(&mut [0; 4]).await.unwrap();
        }
        let error = write.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
