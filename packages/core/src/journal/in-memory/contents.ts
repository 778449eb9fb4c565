/** Everything that an in-memory store contains, for moving, erasing and retention. */
import type { Clock } from "../../base/clock.ts"
import { validateId } from "../../base/clock.ts"
import { ConversationLockedError } from "../../base/errors.ts"
import {
  BLOB,
  type ContentAddress,
  ContentDiffersError,
  type Contents,
  type ContentWrite,
  contentProject,
  type StoredItem,
  type StoredNamespace,
} from "../contents.ts"
import { pruneTotals, SPENT, totalsFile, writeTotals } from "../daily-totals.ts"
import type { MemoryFiles, MemoryNamespace } from "../memory-files.ts"
import { decodeTeam } from "../team-content.ts"
import { newJournal, type StoredJournal, validateBlobName } from "./journal.ts"
import { newMailbox, type StoredMailbox } from "./mailbox.ts"
import { newMemory, type StoredMemory } from "./memory-files.ts"
import {
  blankMessages,
  dropJournalFile,
  eraseMemory,
  journalTexts,
  mailboxTexts,
  memoryTexts,
  putJournalFile,
  putMemory,
  putTeam,
} from "./stored-texts.ts"

export interface InMemoryData {
  /** By `project/id`, and `project/under/subagents/id`. */
  readonly journals: Map<string, StoredJournal>
  /** By the namespace as JSON. */
  readonly memories: Map<string, StoredMemory>
  readonly filesOf: (namespace: MemoryNamespace) => MemoryFiles
  /** By `project/team`. */
  readonly mailboxes: Map<string, StoredMailbox>
  /** By `project/name`. */
  readonly logs: Map<string, string[]>
  readonly clock: Clock
}

const BATCH_BYTES = 4 * 1024 * 1024

export function contentsInMemory(kept: InMemoryData): Contents {
  const { journals, memories, filesOf, mailboxes, logs, clock } = kept

  function all(): readonly ContentAddress[] {
    return [
      ...[...journals.keys()].map(journalAddress),
      ...[...memories.keys()].flatMap(namespaceAddresses),
      ...[...mailboxes.keys()].map((key): ContentAddress => {
        const [project = "", team = ""] = key.split("/")
        return { kind: "team", project, team }
      }),
      ...[...logs.keys()].map((key): ContentAddress => {
        const [project = ""] = key.split("/")
        return { kind: "log", project, name: "callers" }
      }),
    ]
  }

  function textsOf(address: ContentAddress): ReadonlyMap<string, Buffer> {
    switch (address.kind) {
      case "journal":
        return journalTexts(journals.get(journalKey(address)))
      case "memories":
        return memoryTexts(memories.get(memoryKey(address.namespace)))
      case "team":
        return mailboxTexts(mailboxes.get(`${address.project}/${address.team}`))
      case "sums":
        return totalsFile(memories.get(memoryKey({ project: address.project }))?.files.get(SPENT)?.text)
      case "log":
        return new Map()
    }
  }

  function linesOf(address: ContentAddress): readonly Buffer[] {
    if (address.kind === "journal") return journals.get(journalKey(address))?.lines ?? []
    if (address.kind !== "log") return []
    return (logs.get(`${address.project}/${address.name}`) ?? []).map((line) => Buffer.from(`${line}\n`))
  }

  function contentOf(address: ContentAddress): StoredItem | undefined {
    const texts = textsOf(address)
    const hasLines = address.kind === "journal" || address.kind === "log"
    const lines = linesOf(address).reduce((sum, { length }) => sum + length, 0)
    if (texts.size === 0 && (address.kind === "log" ? lines === 0 : !hasLines)) return undefined
    const modified = address.kind === "memories" ? memories.get(memoryKey(address.namespace))?.files : undefined
    const journal = address.kind === "journal" ? journals.get(journalKey(address)) : undefined
    const files = [...texts].map(([name, { length }]) => {
      const time = modified?.get(name)?.modified
      return { name, bytes: length, ...(time === undefined ? {} : { modified: time }) }
    })
    return {
      address,
      files: files.sort((a, b) => (a.name < b.name ? -1 : 1)),
      ...(hasLines ? { lines } : {}),
      ...(journal ? { touched: journal.touched } : {}),
      ...(journal?.writer ? { isOpen: true } : {}),
    }
  }

  function mustBeClosed(address: ContentAddress & { readonly kind: "journal" }): void {
    const writer = journals.get(journalKey(address))?.writer
    if (writer) throw new ConversationLockedError(address.id, writer)
  }

  function check(address: ContentAddress, { lines, files = [] }: ContentWrite): void {
    if (address.kind === "journal") mustBeClosed(address)
    const size = linesOf(address).reduce((sum, { length }) => sum + length, 0)
    if (lines && lines.at !== size) throw new ContentDiffersError(address, "the size")
    const texts = textsOf(address)
    for (const { name, data, replaces } of files) {
      const there = texts.get(name)
      if (there && !replaces && !there.equals(data)) throw new ContentDiffersError(address, `"${name}"`)
    }
  }

  return {
    async *list({ project } = {}) {
      for (const address of all()) {
        const content = project === undefined || contentProject(address) === project ? contentOf(address) : undefined
        if (content) yield content
      }
    },

    async lines(address, from) {
      const found: Buffer[] = []
      let at = 0
      let bytes = 0
      for (const line of linesOf(address)) {
        if (at >= from) {
          found.push(line)
          bytes += line.length
        }
        at += line.length
        if (bytes >= BATCH_BYTES) break
      }
      return Buffer.concat(found)
    },

    async files(address, names) {
      const texts = textsOf(address)
      return new Map(names.flatMap((name) => (texts.has(name) ? [[name, texts.get(name)!] as const] : [])))
    },

    async write(address, change) {
      const { lines, files = [], touched } = change
      check(address, change)
      switch (address.kind) {
        case "journal": {
          for (const { name } of files) if (name.startsWith(BLOB)) validateBlobName(name.slice(BLOB.length))
          const journal = getOrCreate(journals, journalKey(address), () => newJournal(clock))
          for (const line of lines ? linesIn(lines.data) : []) {
            journal.lines.push(line)
            journal.bytes += line.length
          }
          for (const file of files) putJournalFile(journal, file)
          if (touched !== undefined) journal.touched = touched
          return
        }
        case "memories":
          return putMemory(getOrCreate(memories, memoryKey(address.namespace), newMemory), address, files)
        case "team": {
          const key = `${validateId("project name", address.project)}/${validateId("team name", address.team)}`
          const mailbox = getOrCreate(mailboxes, key, newMailbox)
          const texts = new Map(mailboxTexts(mailbox))
          for (const { name, data } of files) texts.set(name, data)
          return putTeam(mailbox, address, decodeTeam(texts))
        }
        case "log": {
          const key = `${validateId("project name", address.project)}/${address.name}`
          const log = getOrCreate(logs, key, (): string[] => [])
          for (const line of lines ? linesIn(lines.data) : []) log.push(line.toString("utf8", 0, line.length - 1))
          return
        }
        case "sums":
          return writeTotals(filesOf({ project: address.project }), address.project, change)
      }
    },

    async erase(address, names) {
      if (address.kind === "journal") return eraseJournal(address, names)
      if (address.kind === "memories") return eraseMemory(memories.get(memoryKey(address.namespace)), names)
      if (address.kind === "sums") return eraseMemory(memories.get(memoryKey({ project: address.project })), [SPENT])
      if (address.kind === "log") return void logs.delete(`${address.project}/${address.name}`)
      const key = `${address.project}/${address.team}`
      if (names) blankMessages(mailboxes.get(key), names)
      else mailboxes.delete(key)
    },

    /** Messages have no times in this store, so none are removed. */
    async prune({ before, dryRun = false }) {
      const day = before.toISOString().slice(0, 10)
      let sums = 0
      for (const key of memories.keys())
        sums += await pruneTotals(filesOf(JSON.parse(key) as MemoryNamespace), { day, dryRun })
      return { messages: 0, sums }
    },
  }

  function eraseJournal(address: ContentAddress & { readonly kind: "journal" }, names?: readonly string[]): void {
    const key = journalKey(address)
    mustBeClosed(address)
    if (names) {
      const journal = journals.get(key)
      for (const name of journal ? names : []) dropJournalFile(journal!, name)
      return
    }
    const below = [...journals.keys()].filter((one) => one.startsWith(`${key}/subagents/`))
    for (const one of below) mustBeClosed(journalAddress(one))
    for (const one of [...below, key]) journals.delete(one)
  }
}

function journalAddress(key: string): ContentAddress & { readonly kind: "journal" } {
  const [project = "", under = "", , id] = key.split("/")
  return { kind: "journal", project, ...(id === undefined ? { id: under } : { under, id }) }
}

function journalKey({ project, under, id }: ContentAddress & { readonly kind: "journal" }): string {
  const namespace = under === undefined ? "" : `${validateId("conversation id", under)}/subagents/`
  return `${validateId("project name", project)}/${namespace}${validateId("conversation id", id)}`
}

/** The daily totals of a project are among its memory files. Memories of scope `project` do not belong to the store. */
function namespaceAddresses(key: string): readonly ContentAddress[] {
  const namespace = JSON.parse(key) as StoredNamespace | { readonly directory: string }
  if ("directory" in namespace) return []
  const isProject = "project" in namespace && !("agent" in namespace) && !("collection" in namespace)
  return [
    { kind: "memories", namespace },
    ...(isProject ? [{ kind: "sums", project: namespace.project } as const] : []),
  ]
}

function memoryKey(namespace: StoredNamespace): string {
  if ("project" in namespace) validateId("project name", namespace.project)
  if ("agent" in namespace) validateId("name for an agent", namespace.agent)
  return JSON.stringify(namespace, Object.keys(namespace).sort())
}

function* linesIn(data: Buffer): Generator<Buffer> {
  for (let start = 0; start < data.length; ) {
    const end = data.indexOf(0x0a, start) + 1 || data.length
    yield Buffer.from(data.subarray(start, end))
    start = end
  }
}

function getOrCreate<V>(map: Map<string, V>, key: string, make: () => V): V {
  const value = map.get(key) ?? make()
  map.set(key, value)
  return value
}
