/**
 * What a sync does on both sides: a plan, which a dry run prints. What comes from the remote passes the same guards as any memory: no secret, no
 * rule that a tool said. From a remote that others write to, nothing counts as the person's word, and no rule of theirs is changed or removed.
 */

import { findSecrets } from "@strata/core/base"
import type { Memory, MemoryProvenance as Provenance } from "@strata/core/memory"
import { freePlace, hashOf, lessTrusted, parseMemory, refusalOf, trespassOf } from "@strata/core/memory-files"
import { type Decision, decider, type RemoteTrust } from "./decide.ts"
import { erasedHere, marksOf, pathsIn, remainingChanges } from "./erased.ts"
import type { Here, SyncBase } from "./here.ts"
import { copiesIn, type SyncedChange, type SyncedFile, type SyncedMemories } from "./synced-memories.ts"

/** What happens to one memory. */
export type SyncStep =
  | {
      readonly what: "sent" | "received" | "merged" | "removed-here" | "removed-there" | "forgotten"
      readonly file: string
    }
  /** Both machines changed the same lines. The other text is a memory of its own. */
  | { readonly what: "kept-both"; readonly file: string; readonly as: string }
  /** It stays on its side. `why` is the end of a sentence. */
  | { readonly what: "refused" | "not-sent"; readonly file: string; readonly why: string }

export interface SyncPlan {
  /** For this machine: texts by path; `null` removes. */
  readonly edits: Map<string, string | null>
  readonly sources: Map<string, Provenance>
  /** Changes made elsewhere, to be recorded here. The oldest first. */
  readonly imports: readonly SyncedChange[]
  /** What the remote will have. */
  readonly next: SyncedMemories
  readonly steps: readonly SyncStep[]
  /** What is noted once this machine has taken everything in, and once the remote has too. */
  readonly base: { readonly taken: SyncBase; readonly sent: SyncBase }
}

export interface Sync {
  readonly here: Here
  readonly there: SyncedMemories
  readonly trust: RemoteTrust
  /** The remote, as the history names it. */
  readonly title: string
  /** Memories that must be erased here and could not be yet. */
  readonly unfinished?: readonly string[]
}

interface Planning extends Sync {
  readonly edits: Map<string, string | null>
  readonly sources: Map<string, Provenance>
  readonly next: Map<string, SyncedFile>
  readonly steps: SyncStep[]
  /** Paths of the remote that this machine does not take. */
  readonly declined: Set<string>
}

export async function planSync(sync: Sync): Promise<SyncPlan> {
  const { here, there } = sync
  const planning: Planning = {
    ...{ ...sync, edits: new Map(), sources: new Map(), next: new Map(there.files), steps: [], declined: new Set() },
  }
  const decide = decider(sync)
  const gone = erasedHere(here)
  for (const path of pathsOf(sync)) {
    const why = reasonToStay(here, path)
    if (why !== undefined) planning.steps.push({ what: "not-sent", file: path, why })
    else await carryOut(planning, path, gone.has(path) ? { kind: "remove-there" } : await decide(path))
  }
  const { edits, sources, steps } = planning
  const marks = marksOf(there, gone)
  const changes = remainingChanges(here, there, marks)
  const texts = textsFor(changes, sync)
  const next: SyncedMemories = { files: planning.next, changes, texts, erased: marks }
  const taken = baseOf(planning, { ...there, erased: marks })
  return {
    ...{ edits, sources, steps, next, imports: importsFor(planning, changes) },
    // until the remote has what was erased here, a next try must send it too
    base: { taken: { ...taken, erasures: here.base?.erasures ?? here.erasures }, sent: baseOf(planning, next) },
  }
}

function pathsOf({ here, there }: Sync): readonly string[] {
  const before = Object.keys(here.base?.files ?? {})
  return [...new Set([...here.files.keys(), ...here.secrets.keys(), ...there.files.keys(), ...before])].sort()
}

function reasonToStay({ secrets, snapshot }: Here, path: string): string | undefined {
  const kinds = secrets.get(path)
  if (kinds) return `it has a secret in it (${kinds.join(", ")})`
  return snapshot.listings.has(path) && !snapshot.texts.has(path) ? "it cannot be read as a memory" : undefined
}

async function carryOut(planning: Planning, path: string, decision: Decision): Promise<void> {
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
      const why = planning.trust === "shared" ? trespassOf(memoryHere(planning, path), undefined) : undefined
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

/** What is here stays, and counts for the remote too. */
function decline({ here, next, steps, declined }: Planning, path: string, why: string): void {
  const ours = here.files.get(path)
  if (ours) next.set(path, ours)
  else declined.add(path)
  steps.push({ what: "refused", file: path, why })
}

/** The text of the remote gets a free name. Nothing is added if it is there already. */
async function keepBoth(planning: Planning, path: string): Promise<void> {
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
  const as = freePlace(path, { text: theirs.text, taken })
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

/** Another file whose name differs only in case: not every disk can have both. */
const twinOf = ({ here }: Planning, path: string): string | undefined =>
  [...here.snapshot.listings.keys()].find((one) => one !== path && one.toLowerCase() === path.toLowerCase())

/** Of a memory that others may have written, no one here said anything. */
function sourceOf({ trust, title }: Planning, source: Provenance): Provenance {
  if (trust === "mine") return source
  const { confirmed: _, ...claimed } = source
  return lessTrusted(claimed, { saidBy: "agent", outside: title })
}

const memoryHere = ({ here }: Planning, path: string): Memory | undefined =>
  here.snapshot.memories.find(({ file }) => file === path)

async function refusal(
  planning: Planning,
  { path, text, ...facts }: SyncedFile & { readonly path: string },
): Promise<string | undefined> {
  if (findSecrets(text).length > 0) return "it has a secret in it"
  const memory = await parseMemory({ file: path, text, facts })
  const trespass = planning.trust === "shared" ? trespassOf(memoryHere(planning, path), memory) : undefined
  return refusalOf(memory) ?? trespass
}

/** What the history here gets. A change of a memory that is not taken stays away too. */
function importsFor(planning: Planning, changes: SyncedMemories["changes"]): readonly SyncedChange[] {
  const { here, there, declined } = planning
  const isWanted = (change: SyncedChange) =>
    !change.files.some(({ path }) => declined.has(path)) &&
    copiesIn(change).every((copy) => findSecrets(there.texts.get(copy)!).length === 0) &&
    findSecrets(change.why).length === 0
  return [...changes]
    .filter(([id, change]) => there.changes.has(id) && !here.changes.has(id) && isWanted(change))
    .sort(([a, { at }], [b, { at: other }]) => (at < other || (at === other && a < b) ? -1 : 1))
    .map(([, change]) => (planning.trust === "mine" ? change : asOthers(planning, change)))
}

const asOthers = (planning: Planning, change: SyncedChange): SyncedChange => ({
  ...change,
  by: "outside",
  files: change.files.map((edit) => (edit.source ? { ...edit, source: sourceOf(planning, edit.source) } : edit)),
})

function textsFor(changes: SyncedMemories["changes"], { here, there }: Sync): ReadonlyMap<string, string> {
  const copies = new Set([...changes.values()].flatMap(copiesIn))
  return new Map([...copies].map((copy): [string, string] => [copy, (there.texts.get(copy) ?? here.texts.get(copy))!]))
}

function baseOf({ here, declined, unfinished = [] }: Planning, { files, changes, erased }: SyncedMemories): SyncBase {
  const taken = [...files].filter(([path]) => !declined.has(path))
  return {
    files: Object.fromEntries(taken.map(([path, { text }]) => [path, hashOf(text)])),
    changes: [...changes.keys()].sort(),
    paths: [...new Set([...pathsIn(changes), ...files.keys()])].sort(),
    erased: [...erased.keys()].filter((key) => !unfinished.includes(key)).sort(),
    erasures: here.erasures,
  }
}
