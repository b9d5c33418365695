//! The rows of a shard on disk: claimed by one process, appended to, and sound after an end at any moment.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::compute::{Shard, StudyRow};
use super::rows::{self, Rows};
use super::{Study, StudyError};

/// How often rows are forced from memory to disk: what a power failure can lose. A killed process loses nothing of
/// what it wrote.
const SYNC_EVERY: Duration = Duration::from_secs(5);

/// Bytes read at once.
pub(super) const CHUNK: usize = 1 << 18;

/// What is written to. A test can have a disk that is full.
pub trait Disk: Write + Send {
    /// Cuts what was written to so many bytes, and goes on there.
    ///
    /// # Errors
    /// Of the operating system.
    fn cut(&mut self, bytes: u64) -> io::Result<()>;

    /// Has everything on disk before it returns.
    ///
    /// # Errors
    /// Of the operating system.
    fn sync(&mut self) -> io::Result<()>;

    /// Whether what is written can still be read under that name. What was removed takes rows as before.
    ///
    /// # Errors
    /// Of the operating system.
    fn is_named(&self, path: &Path) -> io::Result<bool>;
}

impl Disk for File {
    fn cut(&mut self, bytes: u64) -> io::Result<()> {
        self.set_len(bytes)?;
        self.seek(SeekFrom::Start(bytes)).map(drop)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    #[cfg(unix)]
    fn is_named(&self, path: &Path) -> io::Result<bool> {
        use std::os::unix::fs::MetadataExt;

        let (own, named) = (self.metadata()?, fs::metadata(path)?);
        Ok((own.dev(), own.ino()) == (named.dev(), named.ino()))
    }

    #[cfg(not(unix))]
    fn is_named(&self, path: &Path) -> io::Result<bool> {
        path.try_exists()
    }
}

/// Rows of one shard, open for more.
#[derive(Debug)]
pub struct ResultFile<D = File> {
    path: PathBuf,
    disk: D,
    /// Length of what is sound \[bytes\].
    bytes: u64,
    rows: u64,
    /// What was cut off when it was opened \[bytes\].
    dropped: u64,
    synced: Instant,
}

impl ResultFile {
    /// Whether a process is writing to a file of rows, as far as can be told.
    pub fn is_claimed(path: &Path) -> bool {
        let file = OpenOptions::new().read(true).write(true).open(path);
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Opens the rows of a shard in a directory, or starts them, and claims them until the process ends: a lock of the
    /// operating system, which leaves nothing behind when a process is killed. A row that was torn, and what follows
    /// it, is cut off.
    ///
    /// Where nothing can be written, a file that has all its rows is claimed as well: nothing is left to write.
    ///
    /// # Errors
    /// [`StudyError`] if another process has the shard, the rows belong to something else, or the file is a link or
    /// cannot be written.
    pub fn claim(study: &Study, shard: Shard, directory: &Path) -> Result<Self, StudyError> {
        let path = directory.join(shard.file_name());
        let cannot = |source| StudyError::Write { path: path.clone(), rows: 0, source };
        fs::create_dir_all(directory).map_err(cannot)?;
        let mut file = match open_rows(&path) {
            Ok(file) => file,
            Err(source) => return Self::complete(study, shard, &path, source),
        };
        lock(&file, &path, shard)?;
        let (sound, rows) = scan(study, shard, &path)?;
        let dropped = file.metadata().map_err(cannot)?.len() - sound;
        file.cut(sound).map_err(cannot)?;
        let mut opened = Self { path, disk: file, bytes: sound, rows, dropped, synced: Instant::now() };
        if sound == 0 {
            opened.put(rows::header_text(study, shard).as_bytes(), 0)?;
        }
        Ok(opened)
    }

    /// A file that cannot be opened for writing, for what reason `source` says, but has all its rows and nothing else.
    fn complete(study: &Study, shard: Shard, path: &Path, source: io::Error) -> Result<Self, StudyError> {
        // A link is left alone whatever it leads to, as is what cannot be read either.
        let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
        let Some(disk) = File::open(path).ok().filter(|_| is_file) else {
            return Err(StudyError::Write { path: path.to_owned(), rows: 0, source });
        };
        let (bytes, rows) = scan(study, shard, path)?;
        let is_whole = disk.metadata().is_ok_and(|metadata| metadata.len() == bytes);
        if bytes == 0 || !is_whole || rows != shard.rows(study.layout.rows()) {
            return Err(StudyError::Write { path: path.to_owned(), rows, source });
        }
        Ok(Self { path: path.to_owned(), disk, bytes, rows, dropped: 0, synced: Instant::now() })
    }
}

/// Opens a file of rows to go on with it, or makes it. A link is refused, as what it leads to would be written to.
fn open_rows(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => {
            Err(io::Error::other("it is a link, and rows go to no other file: remove it, or name where it leads to"))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => match options.create_new(true).open(path) {
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => open_rows(path),
            opened => opened,
        },
        _ => options.open(path),
    }
}

impl<D: Disk> ResultFile<D> {
    /// A new, empty file that is already open, for tests of disks.
    ///
    /// # Errors
    /// [`StudyError::Write`]
    pub fn on(disk: D, study: &Study, shard: Shard) -> Result<Self, StudyError> {
        let mut opened =
            Self { path: shard.file_name().into(), disk, bytes: 0, rows: 0, dropped: 0, synced: Instant::now() };
        opened.put(rows::header_text(study, shard).as_bytes(), 0)?;
        Ok(opened)
    }

    /// Rows that the file has.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// What was cut off when it was opened, torn or damaged \[bytes\].
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is written to.
    pub fn disk(&self) -> &D {
        &self.disk
    }

    /// Appends rows, all or none of them.
    ///
    /// # Errors
    /// [`StudyError::Write`]; the file is then as it was before.
    pub fn append(&mut self, rows: &[StudyRow]) -> Result<(), StudyError> {
        let mut text = String::with_capacity(64 * rows.len());
        for row in rows {
            rows::push_line(&mut text, row);
        }
        self.put(text.as_bytes(), rows.len() as u64)?;
        if self.synced.elapsed() >= SYNC_EVERY { self.sync() } else { Ok(()) }
    }

    /// Has all rows on disk before it returns, in the file of that name.
    ///
    /// # Errors
    /// [`StudyError::Write`], also if the file was removed or replaced meanwhile.
    pub fn sync(&mut self) -> Result<(), StudyError> {
        let synced = self.disk.sync();
        self.synced = Instant::now();
        let is_named = synced.and_then(|()| self.disk.is_named(&self.path)).map_err(|source| self.cannot(source))?;
        if is_named {
            return Ok(());
        }
        let source = io::Error::other("it was removed or replaced while rows were written to it");
        // What is there under its name now has none of them.
        Err(StudyError::Write { path: self.path.clone(), rows: 0, source })
    }

    fn put(&mut self, bytes: &[u8], rows: u64) -> Result<(), StudyError> {
        if let Err(source) = self.disk.write_all(bytes) {
            // Should this fail too, the torn row is found by its checksum.
            let _ = self.disk.cut(self.bytes);
            return Err(self.cannot(source));
        }
        self.bytes += bytes.len() as u64;
        self.rows += rows;
        Ok(())
    }

    fn cannot(&self, source: io::Error) -> StudyError {
        StudyError::Write { path: self.path.clone(), rows: self.rows, source }
    }
}

/// How often and how long to wait for a lock: whoever only asks for the state of a shard has it for a moment.
const TRIES: (u32, Duration) = (5, Duration::from_millis(50));

fn lock(file: &File, path: &Path, shard: Shard) -> Result<(), StudyError> {
    for _ in 1..TRIES.0 {
        if file.try_lock().is_ok() {
            return Ok(());
        }
        std::thread::sleep(TRIES.1);
    }
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => StudyError::Claimed { path: path.to_owned(), shard },
        TryLockError::Error(source) => StudyError::Lock { path: path.to_owned(), source },
    })
}

/// How much of a file is sound \[bytes\], and how many rows that is. A header that was torn is no header.
fn scan(study: &Study, shard: Shard, path: &Path) -> Result<(u64, u64), StudyError> {
    let Some(mut rows) = Rows::open(study, path, CHUNK)? else { return Ok((0, 0)) };
    if rows.shard != shard {
        let what = format!("its rows are of shard {}, not {shard}", rows.shard);
        return Err(StudyError::Foreign { path: path.to_owned(), what });
    }
    let sound = rows.skip_all()?;
    Ok((sound, rows.given))
}
