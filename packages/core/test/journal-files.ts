/** Journals on a real disk for tests: a temporary directory and small entries. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { seededIds } from "../src/base/clock.ts"
import type { Entry } from "../src/journal/entries.ts"
import { fileStore } from "../src/journal/file/file-store.ts"
import { journalPaths } from "../src/journal/file/layout.ts"
import type { FlushMode, Journal } from "../src/journal/store.ts"

export const ADDRESS = { project: "p", id: "c" }

export async function temporaryRoot(): Promise<{ root: string; remove: () => Promise<void> }> {
  const root = await mkdtemp(join(tmpdir(), "strata-"))
  return { root, remove: () => rm(root, { recursive: true, force: true }) }
}

export function openJournal(root: string, flush: FlushMode = "never"): Promise<Journal> {
  return fileStore({ root, flush }).open(ADDRESS, { access: "write", create: true })
}

export const pathsIn = (root: string) => journalPaths(root, ADDRESS)

const ids = seededIds("journal-files")

export function userEntry(text: string, parentUuid: string | null = null): Entry {
  return {
    type: "user",
    uuid: ids.uuid(),
    parentUuid,
    timestamp: "2026-01-01T00:00:00.000Z",
    message: { role: "user", content: text },
  }
}

export function boundaryEntry(): Entry {
  return {
    type: "system",
    subtype: "compact_boundary",
    uuid: ids.uuid(),
    parentUuid: null,
    timestamp: "2026-01-01T00:00:00.000Z",
    compactMetadata: { trigger: "auto", preTokens: 1 },
  }
}

export async function textsOf(journal: Journal): Promise<string[]> {
  const texts: string[] = []
  for await (const entry of journal.entries()) if (entry.type === "user") texts.push(String(entry.message.content))
  return texts
}
