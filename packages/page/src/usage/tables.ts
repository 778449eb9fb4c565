/** The tables of the index over all conversations. All data can be read again from the transcripts. */
import { crc32 } from "node:zlib"
import type { IndexShape } from "@strata/core/recall"
import { MODEL_FACTS_DATE, OTHER_PRICES_DATE } from "@strata/core/tokens"

/** Increment when the tables or the data computed from a transcript change. */
const VERSION = 5

export const INDEX_SHAPE: IndexShape = {
  version: crc32(`${VERSION} ${MODEL_FACTS_DATE} ${OTHER_PRICES_DATE}`) >>> 1, // new prices change the dollars
  tables: ["said", "seen", "conversation", "file", "noted"],
  create: `
CREATE TABLE file (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  -- home: where a program keeps it. dir: in a directory that the person named
  place TEXT NOT NULL,
  program TEXT NOT NULL,
  size INTEGER NOT NULL,
  modified REAL NOT NULL,
  inode INTEGER NOT NULL,
  -- why it could not be read
  problem TEXT,
  -- lines that could not be read
  damaged INTEGER NOT NULL
);
CREATE TABLE conversation (
  -- never used again: a replay may end after the file has changed
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  file INTEGER NOT NULL,
  name TEXT NOT NULL,
  program TEXT NOT NULL,
  project TEXT, title TEXT, model TEXT, first TEXT, last TEXT,
  turns INTEGER NOT NULL, peak INTEGER NOT NULL,
  compactions INTEGER NOT NULL, agents INTEGER NOT NULL,
  dollars REAL NOT NULL, cost TEXT NOT NULL, estimated REAL NOT NULL,
  lost INTEGER NOT NULL, lost_dollars REAL NOT NULL,
  needed INTEGER NOT NULL, in_view INTEGER NOT NULL,
  repeated INTEGER NOT NULL,
  -- what a replay repeats of the dollars: no sub-agents
  replayable REAL NOT NULL,
  -- what it drew: conversations are replayed in the order of draw / replayable
  draw REAL NOT NULL,
  digest TEXT NOT NULL,
  said_from INTEGER NOT NULL, said_to INTEGER NOT NULL,
  -- 1: it may share responses with another one, and that is not settled yet
  unsettled INTEGER NOT NULL,
  -- NULL: not tried. done, cannot. old: done before the file grew
  replay TEXT,
  replay_recorded REAL, replay_strata REAL,
  -- recorded compactions, the names that answers used after them, and those in view as recorded and with Strata
  replay_compactions INTEGER, replay_names INTEGER, replay_kept INTEGER, replay_strata_kept INTEGER,
  recorded BLOB NOT NULL
);
CREATE INDEX conversation_file ON conversation (file);
CREATE INDEX conversation_unsettled ON conversation (id) WHERE unsettled = 1;
CREATE TABLE seen (key INTEGER NOT NULL, conversation INTEGER NOT NULL, PRIMARY KEY (key, conversation)) WITHOUT ROWID;
CREATE VIRTUAL TABLE said USING fts5 (text, conversation UNINDEXED, at UNINDEXED, who UNINDEXED);
CREATE TABLE noted (name TEXT PRIMARY KEY, value TEXT NOT NULL);
`,
}
