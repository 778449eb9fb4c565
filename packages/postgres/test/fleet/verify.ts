/** Compares the records of the fleet with the data on the server. Each discrepancy is reported as a sentence. */

import type { Entry, Store } from "@strata/core"
import { dailyBudgetIn, isBoundaryEntry, type Mailbox, type MailboxMessage } from "@strata/core/store"
import type { FleetRun } from "./driver.ts"
import {
  ADDED_DOLLARS,
  allEntries,
  blobText,
  DAY,
  type DoneKind,
  type FleetRecord,
  hashOf,
  LOG,
  MEMORY_FILES,
  PROJECT,
  stateIn,
  TEAM,
} from "./records.ts"

export interface FleetReport {
  readonly problems: readonly string[]
  readonly figures: Readonly<Record<string, number>>
}

export async function verifyFleet({ records, agents, troubles }: FleetRun, store: Store): Promise<FleetReport> {
  const found = new FleetFindings(records)
  const mailbox = store.mailboxes({ project: PROJECT, team: TEAM })
  const messages = await messagesIn(mailbox, found)
  let entries = 0
  let lines = 0
  let taken = 0
  for (const agent of agents) {
    const journal = await store.open({ project: PROJECT, id: agent }, { access: "read" })
    const all = await allEntries(journal)
    lines += all.length
    entries += checkEntries(agent, all, found)
    taken += checkTaken(agent, { all, messages }, found)
    checkResumes(agent, all, found)
    const notes = await journal.readNotes()
    found.must(
      isLast(found.names("did", "notes", agent), found.names("trying", "notes", agent), notes),
      `${agent}: its notes are ${notes}`,
    )
    for (const name of found.names("did", "blob", agent))
      found.must((await journal.readBlob(name))?.toString() === blobText(name), `${agent}: blob ${name} is lost`)
    await journal.close()
  }
  const files = store.memories({ project: PROJECT })
  const shared = await Promise.all(Array.from({ length: MEMORY_FILES }, (_, at) => files.read(`shared-${at}.md`)))
  found.compare(
    "memory",
    shared.flatMap((text = "") => text.split("\n").filter(Boolean)),
  )
  found.compare("log", await store.log({ project: PROJECT, name: LOG }).read())
  const sum = (await dailyBudgetIn(store.memories({ project: PROJECT })).spentOn(DAY)) / ADDED_DOLLARS
  const [added, tried] = [found.names("did", "sum").length, found.names("trying", "sum").length]
  found.must(sum >= added && sum <= tried, `the sum has ${sum} additions: ${added} acknowledged, ${tried} tried`)
  const fences = found.of("permitted").map(({ fence }) => fence)
  found.must(new Set(fences).size === fences.length, "a permit was given twice with one number")
  return {
    problems: found.problems,
    figures: {
      ...troubles,
      ...{ "appends acknowledged": found.of("appended").length, "entries acknowledged": entries, "lines there": lines },
      ...{
        "messages acknowledged": found.of("sent").length,
        "messages there": messages.length,
        "messages taken": taken,
      },
      ...{ "conversations resumed": found.of("opened").length, "writers that lost": found.of("lost").length },
      ...{
        "blobs acknowledged": found.names("did", "blob").length,
        "notes acknowledged": found.names("did", "notes").length,
      },
      ...{
        "memory changes acknowledged": found.names("did", "memory").length,
        "log lines acknowledged": found.names("did", "log").length,
      },
      ...{ "additions acknowledged": added, "additions there": sum, "permits given": fences.length },
    },
  }
}

class FleetFindings {
  readonly problems: string[] = []
  readonly #records: readonly FleetRecord[]

  constructor(records: readonly FleetRecord[]) {
    this.#records = records
    for (const { agent, why } of this.of("failed")) this.problems.push(`${agent} failed: ${why}`)
  }

  of<T extends FleetRecord["type"]>(type: T, agent?: string) {
    return this.#records.filter(
      (record): record is Extract<FleetRecord, { readonly type: T }> =>
        record.type === type && (agent === undefined || ("agent" in record && record.agent === agent)),
    )
  }

  names(type: "trying" | "did", kind: DoneKind, agent?: string): readonly string[] {
    return this.of(type, agent).flatMap((record) => (record.kind === kind ? [record.name] : []))
  }

  must(isSo: boolean, problem: string): void {
    if (!isSo) this.problems.push(problem)
  }

  /** Asserts that all acknowledged writes are stored, none twice, and none that was not tried. */
  compare(kind: DoneKind, there: readonly string[]): void {
    const all = new Set(there)
    this.must(all.size === there.length, `${kind}: ${there.length - all.size} are there twice`)
    for (const name of this.names("did", kind)) this.must(all.has(name), `${kind}: ${name} is lost`)
    const tried = new Set(this.names("trying", kind))
    for (const name of all) this.must(tried.has(name), `${kind}: no one wrote ${name}`)
  }
}

/** Returns the number of acknowledged entries. */
function checkEntries(agent: string, all: readonly Entry[], found: FleetFindings): number {
  const uuids = new Map(all.map(({ uuid }, at) => [uuid, at]))
  found.must(uuids.size === all.length, `${agent}: an entry is there twice`)
  const states = all.flatMap((entry) => stateIn(entry) ?? [])
  for (const [at, { step, fence }] of states.entries()) {
    found.must(step === at + 1, `${agent}: step ${step} is at ${at + 1}`)
    found.must(at === 0 || fence >= states[at - 1]!.fence, `${agent}: two writers at step ${step}`)
  }
  const appended = found.of("appended", agent)
  for (const record of appended) {
    const places = record.uuids.map((uuid) => uuids.get(uuid) ?? -1)
    found.must(!places.includes(-1), `${agent}: an acknowledged entry is lost (fence ${record.fence})`)
    found.must(
      places.every((place, at) => at === 0 || place === places[at - 1]! + 1),
      `${agent}: a batch was torn`,
    )
  }
  const fences = found.of("opened", agent).map(({ fence }) => fence)
  found.must(new Set(fences).size === fences.length, `${agent}: two writers had one number`)
  return appended.reduce((sum, record) => sum + record.uuids.length, 0)
}

/** Checks that the agent received every message before its cursor, once and in order. */
function checkTaken(
  agent: string,
  { all, messages }: { readonly all: readonly Entry[]; readonly messages: readonly MailboxMessage[] },
  found: FleetFindings,
): number {
  const states = all.flatMap((entry) => stateIn(entry) ?? [])
  const taken = states.flatMap(({ took }) => took.map(([from, sequence]) => `${from} ${sequence}`))
  const mine = messages.filter(({ to }) => to.includes(agent)).map(({ from, sequence }) => `${from} ${sequence}`)
  found.must(
    taken.join() === mine.join(),
    `${agent}: took ${taken.length} messages, and ${mine.length} were sent to it`,
  )
  return taken.length
}

/** Checks that the content read when opening the conversation is still its beginning. */
function checkResumes(agent: string, all: readonly Entry[], found: FleetFindings): void {
  for (const { fence, resumed } of found.of("opened", agent)) {
    const { lines, tailFirst, tailLines } = resumed
    const start = tailFirst === undefined ? 0 : all.findIndex(({ uuid }) => uuid === tailFirst)
    const then = all.slice(0, start + tailLines)
    const tail = then.slice(Math.max(0, then.findLastIndex(isBoundaryEntry)))
    // more may have been read after opening: a writer with a larger number came between
    const later = all.slice(then.length, lines).flatMap((entry) => stateIn(entry) ?? [])
    found.must(hashOf(all.slice(0, lines)) === resumed.all, `${agent}: with number ${fence} other lines were read`)
    found.must(hashOf(tail) === resumed.tail, `${agent}: with number ${fence} another tail was read`)
    found.must(
      later.every((state) => state.fence > fence),
      `${agent}: with number ${fence} the tail was not all of it`,
    )
  }
}

async function messagesIn(mailbox: Mailbox, found: FleetFindings): Promise<readonly MailboxMessage[]> {
  const { messages } = await mailbox.read(undefined)
  await mailbox.close()
  const byId = new Map(messages.map((message) => [message.content.id, message]))
  found.must(byId.size === messages.length, "a message is there twice")
  for (const { agent, id, sequence } of found.of("sent"))
    found.must(byId.get(id)?.sequence === sequence && byId.get(id)?.from === agent, `message ${id} is lost`)
  const next = new Map<string, number>()
  for (const { from, sequence } of messages) {
    found.must(sequence === (next.get(from) ?? 1), `${from}: message ${sequence} is out of order`)
    next.set(from, sequence + 1)
  }
  return messages
}

/** Whether the stored value is the last acknowledged one, or one that was tried after it. */
function isLast(did: readonly string[], tried: readonly string[], there: string | undefined): boolean {
  const last = did.at(-1)
  return there === undefined
    ? last === undefined
    : tried.slice(last === undefined ? 0 : tried.indexOf(last)).includes(there)
}
