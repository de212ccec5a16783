//! The thread that writes files and pictures while the next step is computed.

use super::fields::Fields;
use super::folder::Folder;
use super::pictures::Pictures;
use super::summary::draw_diagnostics;
use crate::case::Case;
use crate::checkpoint::{Checkpoint, Store};
use crate::error::Error;
use crate::model::Snapshot;
use crate::sample::Sampled;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// A job for the writing thread.
pub enum Job {
    /// Pictures of a step and its time.
    Frame(u64, f64, Arc<Snapshot>),
    /// Field files of a step and its time.
    Fields(u64, f64, Arc<Snapshot>),
    /// A checkpoint, and the chart of diagnostics.
    Checkpoint(Box<Checkpoint>),
    /// The chart of diagnostics, so that it can be viewed during a long run.
    Chart,
    /// Sampled fields of a step and its time, by name.
    Samples(u64, f64, Vec<(String, Sampled)>),
    /// The animation of all pictures.
    Animation,
}

/// The number of jobs that may wait before the computation blocks.
const QUEUE: usize = 4;

/// The writing thread and its queue.
pub struct Writer {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<u64>>,
    failure: Arc<Mutex<Option<Error>>>,
}

impl Writer {
    /// Starts the writing thread of a rank, which draws pictures with `threads` threads.
    pub fn start(case: &Case, folder: &Folder, pictures: Pictures, threads: usize, rank: (usize, usize)) -> Self {
        let (jobs, queue) = sync_channel(QUEUE);
        let failure = Arc::new(Mutex::new(None));
        let work = Work {
            pictures,
            fields: Fields::new(case, folder.path(), rank),
            store: folder.store(),
            case: case.clone(),
            folder: folder.path().to_owned(),
            failure: failure.clone(),
            frames: 0,
        };
        let thread = std::thread::spawn(move || {
            // Pictures are drawn in parallel on a separate pool; in the common one they would wait for the computation.
            match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
                Ok(pool) => pool.install(|| work.run(queue)),
                Err(_) => work.run(queue),
            }
        });
        Self {
            jobs: Some(jobs),
            thread: Some(thread),
            failure,
        }
    }

    /// Submits a job. Blocks while the queue is full.
    ///
    /// # Errors
    /// The error of an earlier job.
    pub fn submit(&mut self, job: Job) -> Result<(), Error> {
        self.check()?;
        let sent = self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok());
        if sent { Ok(()) } else { Err(Error::Writer) }
    }

    /// Returns the error of an earlier job, if there is one.
    pub fn check(&self) -> Result<(), Error> {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.take().map_or(Ok(()), Err)
    }

    /// Waits until everything is written. Returns the number of pictures.
    ///
    /// # Errors
    /// The error of a job.
    pub fn finish(mut self) -> Result<u64, Error> {
        let frames = self.join()?;
        self.check()?;
        Ok(frames)
    }

    fn join(&mut self) -> Result<u64, Error> {
        drop(self.jobs.take());
        match self.thread.take() {
            Some(thread) => thread.join().map_err(|_| Error::Writer),
            None => Ok(0),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // If the computation fails, jobs already submitted are still written.
        let _ = self.join();
    }
}

/// The state of the thread.
struct Work {
    pictures: Pictures,
    fields: Fields,
    store: Store,
    case: Case,
    folder: PathBuf,
    failure: Arc<Mutex<Option<Error>>>,
    frames: u64,
}

impl Work {
    fn run(mut self, queue: Receiver<Job>) -> u64 {
        let mut failed = false;
        for job in queue {
            // After a failure the computation will stop; the rest of the queue is discarded.
            if failed {
                continue;
            }
            if let Err(error) = self.do_job(job) {
                failed = true;
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
        }
        self.frames
    }

    fn do_job(&mut self, job: Job) -> Result<(), Error> {
        match job {
            Job::Frame(step, time, snapshot) => {
                self.frames += 1;
                self.pictures.draw(step, time, &snapshot)
            }
            Job::Fields(step, time, snapshot) => self.fields.write(step, time, &snapshot),
            Job::Checkpoint(checkpoint) => {
                let Checkpoint { header, state } = *checkpoint;
                self.store.write(&header, &state.into())?;
                self.do_job(Job::Chart)
            }
            Job::Chart => {
                // A chart that cannot be drawn yet is not an error.
                let _ = draw_diagnostics(&self.case, &self.folder, &self.folder.join("diagnostics.png"));
                Ok(())
            }
            Job::Samples(step, time, samples) => {
                for (name, sampled) in samples {
                    sampled.write(&self.folder.join(format!("fields/{name}-{step:06}")), time)?;
                }
                Ok(())
            }
            Job::Animation => self.pictures.animate(),
        }
    }
}
