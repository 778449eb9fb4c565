/**
 * Plans a sync for both sides. A dry run prints the plan. Memories from the remote pass the same guards as any memory: no secrets, and no
 * instructions that come from a tool. From a remote that others write to, nothing counts as stated by the user, and no rule of the user is
 * changed or removed.
 */

import { findSecrets } from "@strata/core/base"
import type { Memory, MemorySource as Provenance } from "@strata/core/memory"
import {
  freePath,
  hashOf,
  lessTrusted,
  parseMemory,
  refusalReason,
  ruleChangeViolation,
} from "@strata/core/memory-files"
import { createDecider, type Decision, type RemoteTrust } from "./decide.ts"
import { collectTombstones, erasedHere, pathsIn, remainingChanges } from "./erasures.ts"
import type { LocalState, SyncBase } from "./local-state.ts"
import { copiesIn, type SyncedChange, type SyncedFile, type SyncedMemories } from "./synced-memories.ts"

/** The action taken for one memory. */
export type SyncStep =
  | {
      readonly what: "sent" | "received" | "merged" | "removed-here" | "removed-there" | "forgotten"
      readonly file: string
    }
  /** Both machines changed the same lines. The other text is stored as a separate memory, `as`. */
  | { readonly what: "kept-both"; readonly file: string; readonly as: string }
  /** The memory stays on its side. `why` is the end of a sentence. */
  | { readonly what: "refused" | "not-sent"; readonly file: string; readonly why: string }

export interface SyncPlan {
  /** New texts on this machine by path; `null` removes the memory. */
  readonly edits: Map<string, string | null>
  readonly sources: Map<string, Provenance>
  /** Changes from other machines to record here, oldest first. */
  readonly imports: readonly SyncedChange[]
  /** The new state of the remote. */
  readonly next: SyncedMemories
  readonly steps: readonly SyncStep[]
  /** The records of this sync: one for when this machine has applied everything, one for when the push has succeeded too. */
  readonly base: { readonly taken: SyncBase; readonly sent: SyncBase }
}

export interface SyncInput {
  readonly here: LocalState
  readonly there: SyncedMemories
  readonly trust: RemoteTrust
  /** Name of the remote in the history. */
  readonly title: string
  /** Keys of memories that must be erased here but could not be yet. */
  readonly unfinished?: readonly string[]
}

interface PlanState extends SyncInput {
  readonly edits: Map<string, string | null>
  readonly sources: Map<string, Provenance>
  readonly next: Map<string, SyncedFile>
  readonly steps: SyncStep[]
  /** Remote paths that this machine does not accept. */
  readonly declined: Set<string>
}

export async function planSync(sync: SyncInput): Promise<SyncPlan> {
  const { here, there } = sync
  const planning: PlanState = {
    ...{ ...sync, edits: new Map(), sources: new Map(), next: new Map(there.files), steps: [], declined: new Set() },
  }
  const decide = createDecider(sync)
  const erasedPaths = erasedHere(here)
  for (const path of pathsOf(sync)) {
    const why = reasonToStay(here, path)
    if (why !== undefined) planning.steps.push({ what: "not-sent", file: path, why })
    else await carryOut(planning, path, erasedPaths.has(path) ? { kind: "remove-there" } : await decide(path))
  }
  const { edits, sources, steps } = planning
  const tombstones = collectTombstones(there, erasedPaths)
  const changes = remainingChanges(here, there, tombstones)
  const texts = textsFor(changes, sync)
  const next: SyncedMemories = { files: planning.next, changes, texts, erased: tombstones }
  const taken = baseOf(planning, { ...there, erased: tombstones })
  return {
    ...{ edits, sources, steps, next, imports: importsFor(planning, changes) },
    // until the push of an erasure succeeds, the next attempt must send it again
    base: { taken: { ...taken, erasures: here.base?.erasures ?? here.erasures }, sent: baseOf(planning, next) },
  }
}

function pathsOf({ here, there }: SyncInput): readonly string[] {
  const before = Object.keys(here.base?.files ?? {})
  return [...new Set([...here.files.keys(), ...here.secrets.keys(), ...there.files.keys(), ...before])].sort()
}

function reasonToStay({ secrets, snapshot }: LocalState, path: string): string | undefined {
  const kinds = secrets.get(path)
  if (kinds) return `it contains a secret (${kinds.join(", ")})`
  return snapshot.listings.has(path) && !snapshot.texts.has(path) ? "it cannot be read as a memory" : undefined
}

async function carryOut(planning: PlanState, path: string, decision: Decision): Promise<void> {
  const { here, there, next, steps, edits, sources } = planning
  const ours = here.files.get(path)
  switch (decision.kind) {
    case "same":
      return
    case "send":
      next.set(path, ours!)
      steps.push({ what: "sent", file: path })
      return
    case "remove-there":
      if (!next.delete(path)) return
      steps.push({ what: "removed-there", file: path })
      return
    case "forgotten":
      planning.declined.add(path)
      steps.push({ what: "forgotten", file: path })
      return
    case "remove-here": {
      const why = planning.trust === "shared" ? ruleChangeViolation(memoryHere(planning, path), undefined) : undefined
      if (why !== undefined) return decline(planning, path, why)
      edits.set(path, null)
      steps.push({ what: "removed-here", file: path })
      return
    }
    case "receive":
    case "merge": {
      const theirs = there.files.get(path)!
      const twin = decision.kind === "receive" && !ours ? twinOf(planning, path) : undefined
      if (twin !== undefined) return keepBoth(planning, path)
      const text = decision.kind === "merge" ? decision.text : theirs.text
      const from = sourceOf(planning, theirs.source)
      const source = decision.kind === "merge" && ours ? lessTrusted(ours.source, from) : from
      const why = await refusal(planning, { path, text, source, created: theirs.created })
      if (why !== undefined) return decline(planning, path, why)
      edits.set(path, text)
      sources.set(path, source)
      if (decision.kind === "merge") next.set(path, { text, created: theirs.created, source })
      steps.push({ what: decision.kind === "merge" ? "merged" : "received", file: path })
      return
    }
    case "keep-both":
      return keepBoth(planning, path)
  }
}

/** The local memory stays and is sent to the remote. */
function decline({ here, next, steps, declined }: PlanState, path: string, why: string): void {
  const ours = here.files.get(path)
  if (ours) next.set(path, ours)
  else declined.add(path)
  steps.push({ what: "refused", file: path, why })
}

/** Stores the remote's text under a free name, unless that text exists already. */
async function keepBoth(planning: PlanState, path: string): Promise<void> {
  const { here, there, edits, sources, next, steps } = planning
  const theirs = there.files.get(path)!
  const taken = new Map(
    [...there.files, ...here.files].map(([one, { text }]): [string, string] => [one.toLowerCase(), text]),
  )
  for (const one of here.snapshot.listings.keys()) if (!taken.has(one.toLowerCase())) taken.set(one.toLowerCase(), "")
  for (const [one, text] of edits) if (text !== null) taken.set(one.toLowerCase(), text)
  const ours = here.files.get(path)
  const twin = twinOf(planning, path)
  if (twin !== undefined) taken.set(path.toLowerCase(), here.snapshot.texts.get(twin) ?? "")
  const as = freePath(path, { text: theirs.text, taken })
  if (ours) next.set(path, ours)
  if (as === undefined) return
  const source = sourceOf(planning, theirs.source)
  const why = await refusal(planning, { ...theirs, path: as, source })
  if (why !== undefined) return decline(planning, path, why)
  edits.set(as, theirs.text)
  sources.set(as, source)
  next.set(as, theirs)
  steps.push({ what: "kept-both", file: path, as })
}

/** Another file whose name differs only in case, which some file systems cannot store separately. */
const twinOf = ({ here }: PlanState, path: string): string | undefined =>
  [...here.snapshot.listings.keys()].find((one) => one !== path && one.toLowerCase() === path.toLowerCase())

/** From a shared remote, claims that the user stated or confirmed a memory are dropped. */
function sourceOf({ trust, title }: PlanState, source: Provenance): Provenance {
  if (trust === "mine") return source
  const { confirmed: _, ...claimed } = source
  return lessTrusted(claimed, { saidBy: "agent", outside: title })
}

const memoryHere = ({ here }: PlanState, path: string): Memory | undefined =>
  here.snapshot.memories.find(({ file }) => file === path)

async function refusal(
  planning: PlanState,
  { path, text, ...facts }: SyncedFile & { readonly path: string },
): Promise<string | undefined> {
  if (findSecrets(text).length > 0) return "it contains a secret"
  const memory = await parseMemory({ file: path, text, facts })
  const trespass = planning.trust === "shared" ? ruleChangeViolation(memoryHere(planning, path), memory) : undefined
  return refusalReason(memory) ?? trespass
}

/** Changes to add to the local history. Changes that touch a declined memory are skipped too. */
function importsFor(planning: PlanState, changes: SyncedMemories["changes"]): readonly SyncedChange[] {
  const { here, there, declined } = planning
  const isAccepted = (change: SyncedChange) =>
    !change.files.some(({ path }) => declined.has(path)) &&
    copiesIn(change).every((copy) => findSecrets(there.texts.get(copy)!).length === 0) &&
    findSecrets(change.why).length === 0
  return [...changes]
    .filter(([id, change]) => there.changes.has(id) && !here.changes.has(id) && isAccepted(change))
    .sort(([a, { at }], [b, { at: other }]) => (at < other || (at === other && a < b) ? -1 : 1))
    .map(([, change]) => (planning.trust === "mine" ? change : asOthers(planning, change)))
}

const asOthers = (planning: PlanState, change: SyncedChange): SyncedChange => ({
  ...change,
  by: "outside",
  files: change.files.map((edit) => (edit.source ? { ...edit, source: sourceOf(planning, edit.source) } : edit)),
})

function textsFor(changes: SyncedMemories["changes"], { here, there }: SyncInput): ReadonlyMap<string, string> {
  const copies = new Set([...changes.values()].flatMap(copiesIn))
  return new Map([...copies].map((copy): [string, string] => [copy, (there.texts.get(copy) ?? here.texts.get(copy))!]))
}

function baseOf({ here, declined, unfinished = [] }: PlanState, { files, changes, erased }: SyncedMemories): SyncBase {
  const taken = [...files].filter(([path]) => !declined.has(path))
  return {
    files: Object.fromEntries(taken.map(([path, { text }]) => [path, hashOf(text)])),
    changes: [...changes.keys()].sort(),
    paths: [...new Set([...pathsIn(changes), ...files.keys()])].sort(),
    erased: [...erased.keys()].filter((key) => !unfinished.includes(key)).sort(),
    erasures: here.erasures,
  }
}
