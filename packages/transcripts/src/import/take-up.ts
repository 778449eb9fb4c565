/**
 * Takes up a conversation of another program: imports it the first time, and finds it again afterwards. If its file has grown since, ours is
 * brought up to date; if both went on, the file's is imported beside ours. The file is only read.
 */
import { basename } from "node:path"
import { isMessage } from "@strata/core"
import { checkOptions, ImportError, systemClock, uuidFrom } from "@strata/core/base"
import type { Store } from "@strata/core/store"
import { isDecision, placeOf } from "@strata/core/store"
import {
  IMPORT_RULES,
  type ImportOptions,
  type ImportOutcome,
  idFor,
  importInto,
  keptIds,
  outcomeFor,
  readExternal,
} from "./import-conversations.ts"
import type { ImportedConversation } from "./importer.ts"
import { addImported, type ImportTarget, writeImported } from "./into-journal.ts"
import { mainPath } from "./main-path.ts"
import { isOwnSession } from "./places.ts"

/** What became of one conversation of the file. */
export type ImportOrUpdateResult = ImportOutcome & {
  /** The directory that it was in. */
  readonly cwd?: string
  /** How many messages the file has. */
  readonly messages: number
} & (
    | { readonly state: "imported" }
    /** The file has nothing that ours does not have. */
    | { readonly state: "known" }
    /** The file had grown and ours had not: `added` messages are in it now. */
    | { readonly state: "updated"; readonly added: number }
    /** Both went on. `earlier` is ours; this one is what the file says now. */
    | { readonly state: "beside"; readonly earlier: string }
  )

export async function importOrUpdateConversations(options: ImportOptions): Promise<readonly ImportOrUpdateResult[]> {
  checkOptions("takeUpConversations", options, IMPORT_RULES)
  const { file, clock = systemClock } = options
  const given = await importInto(options)
  const conversations = await readExternal(file)
  if (conversations.length === 0) throw new ImportError(`${basename(file)} holds no conversation. Nothing was written.`)
  const there = await keptIds(given, [options.owner])
  const taken: ImportOrUpdateResult[] = []
  const isOwn = await isOwnSession(file, options.env ?? process.env)
  for (const conversation of conversations) {
    const id = idFor(conversation)
    // one that an earlier version took up goes on where it is
    const project = there.get(id) ?? placeOf(given)
    const target = { store: given.store, project, clock, source: basename(file), id, isOwn }
    taken.push(await takeUp(conversation, { target, there }))
  }
  return taken
}

interface Taking {
  readonly target: ImportTarget
  /** By id: where what is kept is. */
  readonly there: ReadonlyMap<string, string>
}

async function takeUp(conversation: ImportedConversation, { target, there }: Taking): Promise<ImportOrUpdateResult> {
  const { messages, cwd } = conversation
  const about = (id: string) => ({
    ...outcomeFor(conversation, id),
    messages: messages.length,
    ...(cwd === undefined ? {} : { cwd }),
  })
  if (!there.has(target.id)) {
    await writeImported(conversation, target)
    return { ...about(target.id), state: "imported" }
  }
  const ours = await keptOf(target)
  const path = mainPath(messages)
  const added = messages.filter(({ uuid }) => !ours.uuids.has(uuid)).length
  if (added === 0) return { ...about(target.id), state: "known" }
  const firstNew = path.findIndex(({ uuid }) => !ours.uuids.has(uuid))
  const goesOn = firstNew > 0 && path.slice(firstNew).every(({ uuid }) => !ours.uuids.has(uuid))
  if (!ours.wentOn && goesOn && path[firstNew - 1]!.uuid === ours.tip) {
    await addImported(conversation, target)
    return { ...about(target.id), state: "updated", added }
  }
  const id = uuidFrom(`${target.id}@${path.at(-1)!.uuid}`)
  if (there.has(id)) return { ...about(id), state: "known" }
  await writeImported(conversation, { ...target, id })
  return { ...about(id), state: "beside", earlier: target.id }
}

interface Kept {
  readonly uuids: ReadonlySet<string>
  /** The newest message that was imported. */
  readonly tip: string | undefined
  /** Someone said something after the import, or it was never one. */
  readonly wentOn: boolean
}

async function keptOf({ store, project, id }: Pick<ImportTarget, "project" | "id"> & { store: Store }): Promise<Kept> {
  const journal = await store.open({ project, id }, { access: "read" })
  const uuids = new Set<string>()
  let newest: string | undefined
  let tip: string | undefined
  let wentOn = true
  try {
    for await (const entry of journal.entries()) {
      uuids.add(entry.uuid)
      if (isMessage(entry)) newest = entry.uuid
      if (isDecision(entry) && entry.subtype === "imported") {
        wentOn = false
        tip = newest
      } else if (entry.type === "user" || entry.type === "assistant") wentOn = true
    }
  } finally {
    await journal.close()
  }
  return { uuids, tip, wentOn }
}
