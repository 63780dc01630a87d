"""Clients that write to the database with psql(1) like the service's nodes: one transaction takes the next sequence
number of its store and writes a change with it. Afterwards, the acknowledged changes are compared with the stored ones.
"""
import queue
import subprocess
import threading
import time

SCHEMA = """
CREATE TABLE stores (number int PRIMARY KEY, last_sequence bigint NOT NULL);
CREATE TABLE changes (store int, sequence bigint, writer int, count int, PRIMARY KEY (store, sequence));
INSERT INTO stores SELECT number, 0 FROM generate_series(0, {last}) AS number;
"""
WRITE = ("WITH header AS (UPDATE stores SET last_sequence = last_sequence + 1 WHERE number = {store}"
         " RETURNING last_sequence) INSERT INTO changes SELECT {store}, last_sequence, {writer}, {count} FROM header"
         " RETURNING 'stored ' || sequence;")
CONNECTING = 6
"""How many seconds it may take to find the member that accepts writes: two for each member, and a reserve."""
UNREPLICATED = "canceling wait for synchronous replication"
"""Part of the warning with which PostgreSQL acknowledges a write that no standby has confirmed."""


class Session:
    """A psql process and its connection. The process ends with the connection."""

    def __init__(self, url):
        self.process = subprocess.Popen(
            ["psql", "-XAtq", "-d", url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, bufsize=1)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.strip())
        self.lines.put(None)

    def ask(self, statement, patience):
        """The lines of the answer; None if it is not complete within `patience` seconds or the connection is lost."""
        try:
            self.process.stdin.write(statement + "\n\\echo .\n")
            self.process.stdin.flush()
        except OSError:
            return None
        found, deadline = [], time.monotonic() + patience
        while True:
            try:
                line = self.lines.get(timeout=max(0.001, deadline - time.monotonic()))
            except queue.Empty:
                return None
            if line is None:
                return None
            if line == ".":
                return found
            found.append(line)

    def close(self):
        self.process.kill()
        self.process.wait()


class Writer(threading.Thread):
    """Writes one change after the other until `stop`. A change whose outcome is unknown is not repeated.

    `patience` is how many seconds the writer waits for an answer before it closes the connection.
    """

    def __init__(self, url, number, store, patience):
        super().__init__(daemon=True)
        self.url, self.number, self.store, self.patience = url, number, store, patience
        self.stop = threading.Event()
        self.acknowledged, self.unknown, self.refused, self.warned = {}, [], 0, 0
        """Sequence number and time by count; counts with unknown outcome; number of errors; number of warnings."""

    def run(self):
        session, count = None, 0
        while not self.stop.is_set():
            # A paused server accepts connections but sends nothing. libpq tries the next one after two seconds.
            if session is None and (session := self._connected()) is None:
                continue
            count += 1
            answer = session.ask(WRITE.format(store=self.store, writer=self.number, count=count), self.patience)
            stored = [line for line in answer or [] if line.startswith("stored ")]
            self.warned += any(UNREPLICATED in line for line in answer or [])
            if stored and not any(UNREPLICATED in line for line in answer):
                self.acknowledged[count] = (int(stored[0].split()[1]), time.time())
            elif answer is None or stored:
                self.unknown.append(count)
            else:
                self.refused += 1
            if not stored:
                session.close()
                session = None
        if session:
            session.close()

    def _connected(self):
        session = Session(self.url)
        if session.ask("", CONNECTING) is not None:
            return session
        session.close()
        time.sleep(0.05)
        return None


class Writers:
    """Several writers to several stores. Every third waits long enough for the late answer of a paused server."""

    def __init__(self, cluster, writers=12, stores=4):
        self.cluster, self.stores = cluster, stores
        cluster.sql(SCHEMA.format(last=stores - 1))
        self.writers = [Writer(cluster.database_url, number, number % stores, 60 if number % 3 == 0 else 2)
                        for number in range(writers)]
        for writer in self.writers:
            writer.start()

    def stop(self):
        for writer in self.writers:
            writer.stop.set()
        for writer in self.writers:
            writer.join(timeout=90)

    def times(self):
        """The times of all acknowledgements, in order."""
        return sorted(when for writer in self.writers for _, when in list(writer.acknowledged.values()))

    def pause_after(self, moment):
        """Finds the longest pause between two acknowledgements that begins at most 30 seconds after a moment. Returns
        the seconds from the moment to the end of the pause, and the length of the pause in seconds."""
        times = [when for when in self.times() if when >= moment - 1]
        pairs = [(after - before, after) for before, after in zip(times, times[1:]) if before < moment + 30]
        longest, end = max(pairs)
        return end - moment, longest

    def wrong(self):
        """Compares stored and acknowledged changes. Returns a sentence for each difference."""
        rows = self.cluster.sql("SELECT store, sequence, writer, count FROM changes ORDER BY 1, 2").splitlines()
        stored = [tuple(int(word) for word in row.split("|")) for row in rows]
        at = {(writer, count): (store, sequence) for store, sequence, writer, count in stored}
        found = [] if len(at) == len(stored) else ["a change is stored twice"]
        for store in range(self.stores):
            numbers = [row[1] for row in stored if row[0] == store]
            if numbers != list(range(1, len(numbers) + 1)):
                found.append(f"store {store} is not numbered from 1 without a gap")
        for writer in self.writers:
            for count, (sequence, _) in writer.acknowledged.items():
                if at.get((writer.number, count)) != (writer.store, sequence):
                    found.append(f"writer {writer.number}'s change {count} was {sequence} of store {writer.store} "
                                 f"and is {at.get((writer.number, count))}")
        return found

    def counts(self):
        """A summary of the outcomes, as a text."""
        def total(of):
            return sum(of(writer) for writer in self.writers)

        return (f"{total(lambda writer: len(writer.acknowledged))} acknowledged, "
                f"{total(lambda writer: len(writer.unknown))} unknown, "
                f"{total(lambda writer: writer.refused)} refused, {total(lambda writer: writer.warned)} warned")
