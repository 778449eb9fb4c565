/**
 * What a journal's sub-agents spent and the journal does not say: a process that dies leaves the last responses only in the agent's own
 * journal.
 */
import { lstat, readdir, readFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import type { DecisionEntry, Entry } from "@strata/core/internal"
import { isDecision } from "@strata/core/internal/journal/entries"
import { isJournal, readJournalBytes } from "@strata/core/internal/journal/read-bytes"
import { spendingOf } from "@strata/core/internal/team/spending"

const EXTENSION = ".jsonl"

export async function unrecordedSpending(file: string, entries: readonly Entry[]): Promise<readonly DecisionEntry[]> {
  const folder = join(dirname(file), basename(file, EXTENSION), "subagents")
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(EXTENSION))
  const recorded = new Set(entries.flatMap(responseIn))
  const missing: DecisionEntry[] = []
  for (const name of names.toSorted()) {
    const agent = basename(name, EXTENSION)
    const spent = spentBy(agent, await ownEntries(join(folder, name)))
    missing.push(...spent.filter(({ responseId }) => !recorded.has(responseId)))
  }
  return missing
}

/** A fork's journal begins with a copy of its parent's, which the parent paid for. */
async function ownEntries(path: string): Promise<readonly Entry[]> {
  const facts = await lstat(path)
  const bytes = facts.isFile() ? await readFile(path) : Buffer.alloc(0)
  if (!isJournal(bytes)) return []
  const { entries } = readJournalBytes(bytes)
  return entries.slice(entries.findLastIndex((entry) => isDecision(entry) && entry.subtype === "branched") + 1)
}

function spentBy(agent: string, entries: readonly Entry[]) {
  return entries.flatMap((entry) => {
    const spending = spendingOf(entry, agent)
    const place = { uuid: `${agent}:${entry.uuid}`, parentUuid: null, timestamp: entry.timestamp }
    return spending ? [{ ...spending, ...place }] : []
  })
}

function responseIn(entry: Entry): readonly string[] {
  if (isDecision(entry)) return entry.subtype === "spent" ? [entry.responseId] : []
  return entry.type === "assistant" ? [entry.message.id ?? entry.uuid] : []
}
