/** Reads recorded conversations of any program as entries in order, with the files of their sub-agents. Writes nothing. */
import { lstat, readdir, readFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import type { StoreLocation } from "@strata/core"
import { errorReason, ImportError } from "@strata/core/base"
import type { JournalAddress, Store } from "@strata/core/store"
import { isJournal, parseStoreUri, storeFrom } from "@strata/core/store"
import { readArchivedTranscript } from "../import/archive/archived-transcript.ts"
import { companionFiles } from "../import/companion-files.ts"
import { importTranscript } from "../import/import-file.ts"
import { placedEntries } from "../import/imported-entries.ts"
import type { ImportedConversation } from "../import/importer.ts"
import { openCodeExport } from "../import/opencode-sessions.ts"
import { type AgentUsage, journalTranscript, readAgentUsage } from "./journal-transcript.ts"
import { copyJournal } from "./stored-journal.ts"
import type { Transcript } from "./transcript.ts"

export type { Transcript } from "./transcript.ts"

const EXTENSION = ".jsonl"
const GZIP = Buffer.from([0x1f, 0x8b]) // the first bytes of every gzip file
const PATTERN = /[*?[]/ // a shell passes a pattern on unchanged if nothing matches

/** The store of a journal that is given as a URI. */
export type WhereStored = Pick<StoreLocation, "store" | "dir" | "env">

/** Reads the conversations in a file. Most formats have one. */
export async function readTranscripts(
  file: string,
  { env = process.env, ...where }: WhereStored = {},
): Promise<readonly Transcript[]> {
  const stored = parseStoreUri(file)
  if (stored) return [await fromStore(file, stored, storeFrom({ ...where, env }))]
  const session = openCodeExport(file)
  if (session !== undefined)
    return importTranscript({ name: basename(file), text: session }).map((found) => fromImport(file, found))
  const bytes = await readBytes(file)
  if (bytes.subarray(0, GZIP.length).equals(GZIP))
    throw unreadable("compressed", `${file} is compressed. Unpack it with gunzip, then name the unpacked file.`)
  const kept = await readArchivedTranscript(file, bytes)
  if (kept) return importTranscript(kept).map((found) => fromImport(file, found))
  if (isJournal(bytes)) {
    const agentUsage = await spentByAgents(file)
    return [journalTranscript({ file, id: basename(file, EXTENSION), bytes, agentUsage })]
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

/** Reads the costs of a journal's agents from the folder next to it. */
async function spentByAgents(file: string): Promise<readonly AgentUsage[]> {
  const folder = join(dirname(file), basename(file, EXTENSION), "subagents")
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(EXTENSION))
  const spent: AgentUsage[] = []
  for (const name of names.toSorted()) {
    const path = join(folder, name)
    const bytes = (await lstat(path)).isFile() ? await readFile(path) : Buffer.alloc(0)
    spent.push(...readAgentUsage(basename(name, EXTENSION), bytes))
  }
  return spent
}

async function readBytes(file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (error) {
    const reason = errorReason(error)
    if (reason === "ENOENT")
      throw unreadable("no-file", PATTERN.test(file) ? `No file matches ${file}.` : `The file ${file} does not exist.`)
    if (reason === "EISDIR")
      throw unreadable("directory", `${file} is a directory. Name the files in it, such as ${file}/*.jsonl.`)
    throw new ImportError(`${file} cannot be read (${reason}).`, { cause: error })
  }
}

/** `code`: why the path cannot be read as a file. */
const unreadable = (code: "compressed" | "no-file" | "directory", message: string) => new ImportError(message, { code })

function fromImport(file: string, imported: ImportedConversation): Transcript {
  const { messages: _m, system: _system, tools: _tools, agents: _agents, spent: _spent, ...about } = imported
  return { file, ...about, ...placedEntries(imported) }
}
