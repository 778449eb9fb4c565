/** A recorded conversation of any program, as entries in order. Reads its file and those of its sub-agents; writes nothing. */
import { lstat, readdir, readFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import type { StoreLocation } from "@strata/core"
import { ImportError, reasonOf } from "@strata/core/base"
import type { JournalAddress, Store } from "@strata/core/store"
import { isJournal, storedAddress, storeFrom } from "@strata/core/store"
import { companionFiles } from "../import/companion-files.ts"
import { importTranscript } from "../import/import-file.ts"
import { placedEntries } from "../import/imported-entries.ts"
import type { ImportedConversation } from "../import/importer.ts"
import { keptTranscript } from "../import/kept/kept-transcript.ts"
import { openCodeExport } from "../import/opencode-sessions.ts"
import { type AgentSpending, agentSpending, journalTranscript } from "./journal-transcript.ts"
import { copyJournal } from "./stored-journal.ts"
import type { Transcript } from "./transcript.ts"

export type { Transcript } from "./transcript.ts"

const EXTENSION = ".jsonl"
const GZIP = Buffer.from([0x1f, 0x8b]) // how every gzip file begins
const PATTERN = /[*?[]/ // a shell passes a pattern on as it is where nothing matches

/** Where a journal is that is named by its place in a store. */
export type WhereStored = Pick<StoreLocation, "store" | "dir" | "env">

/** The conversations in a file: one, for most formats. */
export async function readTranscripts(
  file: string,
  { env = process.env, ...where }: WhereStored = {},
): Promise<readonly Transcript[]> {
  const stored = storedAddress(file)
  if (stored) return [await fromStore(file, stored, storeFrom({ ...where, env }))]
  const session = openCodeExport(file)
  if (session !== undefined)
    return importTranscript({ name: basename(file), text: session }).map((found) => fromImport(file, found))
  const bytes = await readBytes(file)
  if (bytes.subarray(0, GZIP.length).equals(GZIP))
    throw unreadable("compressed", `${file} is compressed. Unpack it with gunzip, then name the unpacked file.`)
  const kept = await keptTranscript(file, bytes)
  if (kept) return importTranscript(kept).map((found) => fromImport(file, found))
  if (isJournal(bytes)) {
    const spent = await spentByAgents(file)
    return [journalTranscript({ file, id: basename(file, EXTENSION), bytes, spent })]
  }
  const text = bytes.toString("utf8")
  const companions = await companionFiles(file, text)
  return importTranscript({ name: basename(file), text, companions }).map((found) => fromImport(file, found))
}

async function fromStore(file: string, address: JournalAddress, store: Store): Promise<Transcript> {
  const copy = await copyJournal(store, address)
  if (copy.bytes.length === 0)
    throw unreadable(
      "no-file",
      `The store (${store.description}) has no conversation ${address.id} in ${address.project}.`,
    )
  return journalTranscript({ file, id: address.id, ...copy })
}

/** The journals of a journal's agents are in a folder beside it. */
async function spentByAgents(file: string): Promise<readonly AgentSpending[]> {
  const folder = join(dirname(file), basename(file, EXTENSION), "subagents")
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(EXTENSION))
  const spent: AgentSpending[] = []
  for (const name of names.toSorted()) {
    const path = join(folder, name)
    const bytes = (await lstat(path)).isFile() ? await readFile(path) : Buffer.alloc(0)
    spent.push(...agentSpending(basename(name, EXTENSION), bytes))
  }
  return spent
}

async function readBytes(file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (error) {
    const reason = reasonOf(error)
    if (reason === "ENOENT")
      throw unreadable("no-file", PATTERN.test(file) ? `No file matches ${file}.` : `The file ${file} does not exist.`)
    if (reason === "EISDIR")
      throw unreadable("directory", `${file} is a directory. Name the files in it, such as ${file}/*.jsonl.`)
    throw new ImportError(`${file} cannot be read (${reason}).`, { cause: error })
  }
}

/** `code`: what the caller named, where it is no file to read. */
const unreadable = (code: "compressed" | "no-file" | "directory", message: string) => new ImportError(message, { code })

function fromImport(file: string, imported: ImportedConversation): Transcript {
  const { messages: _m, system: _system, tools: _tools, agents: _agents, spent: _spent, ...about } = imported
  return { file, ...about, ...placedEntries(imported) }
}
