/** Computes Strata's savings from the conversations replayed so far, and selects the next ones. */
import { rowQuery } from "./list.ts"
import type { ConversationToReplay, ReplayedFile } from "./replay-file.ts"
import type { UsageFilter, UsageSavings } from "./report-data.ts"
import { type DrawnConversation, estimateSaving, sampleSize } from "./sample.ts"
import { REPLAY_METRICS, type ScopedIndex, type UsageIndex } from "./usage-index.ts"

/**
 * SQL condition for conversations that can be replayed. Forks are excluded, because they repeat their parent's work, and so are
 * conversations without a price.
 */
const IS_REPLAYABLE = "c.replayable > 0 AND c.repeated = 0 AND coalesce(c.replay, '') <> 'cannot'"
const PLACE = "c.draw / c.replayable"

export function computeSavings({ index, scope }: ScopedIndex, filter: UsageFilter): UsageSavings {
  const { from, to } = filter
  const { where, values } = rowQuery({ scope, filter })
  const days = `${from === undefined ? "1" : "c.last >= ?"} AND ${to === undefined ? "1" : "c.first < ?"}`
  const all = [...values, ...(from === undefined ? [] : [from]), ...(to === undefined ? [] : [`${to}U`])]
  const found = `FROM conversation c JOIN file ON file.id = c.file WHERE ${where} AND ${days}`
  const spent = Number(index.db.statement(`SELECT coalesce(sum(c.dollars), 0) AS spent ${found}`).get(...all)!.spent)
  const order = index.db
    .statement(
      `SELECT ${PLACE} AS place, c.replayable, ${REPLAY_METRICS.map((name) => `c.${name}`).join(", ")}
       ${found} AND ${IS_REPLAYABLE} ORDER BY place, c.id`,
    )
    .all(...all)
    .map(toDrawnConversation)
  const sample = order.slice(0, sampleSize(order)).flatMap(({ replayed }) => replayed ?? [])
  const total = (value: (one: (typeof sample)[number]) => number) => sample.reduce((sum, one) => sum + value(one), 0)
  const money = order.reduce((sum, one) => sum + one.money, 0)
  return {
    replayed: order.filter(({ replayed }) => replayed).length,
    of: order.length,
    covers: spent === 0 ? 0 : money / spent,
    figure: estimateSaving(order),
    dearer: sample.filter(({ recorded, strata }) => strata > recorded).length,
    names: {
      compactions: total((one) => one.compactions),
      names: total((one) => one.names),
      recorded: total((one) => one.kept),
      strata: total((one) => one.strataKept),
    },
  }
}

function toDrawnConversation(row: Readonly<Record<string, unknown>>) {
  const number = (name: string) => Number(row[name])
  const conversation: DrawnConversation = { place: number("place"), money: number("replayable") }
  if (row.replay_recorded === null) return { ...conversation, replayed: undefined }
  return {
    ...conversation,
    replayed: {
      ...{ recorded: number("replay_recorded"), strata: number("replay_strata") },
      ...{ compactions: number("replay_compactions"), names: number("replay_names") },
      ...{ kept: number("replay_kept"), strataKept: number("replay_strata_kept") },
    },
  }
}

export interface PendingReplay extends ConversationToReplay {
  readonly key: number
}

/** The next conversations in sampling order. Conversations that grew since their replay come last. */
export function nextReplays(
  { index, scope }: ScopedIndex,
  { filter, max }: { readonly filter: UsageFilter; readonly max: number },
): readonly PendingReplay[] {
  const { where, values } = rowQuery({ scope, filter })
  return index.db
    .statement(
      `SELECT c.id, c.name, file.path FROM conversation c JOIN file ON file.id = c.file
       WHERE ${where} AND ${IS_REPLAYABLE} AND coalesce(c.replay, 'old') = 'old'
       ORDER BY c.replay IS NOT NULL, ${PLACE}, c.id LIMIT ?`,
    )
    .all(...values, max)
    .map(({ id, name, path }) => ({ key: Number(id), name: String(name), path: String(path) }))
}

/** Stores the result of a replay. If the file has changed meanwhile, the key no longer exists. */
export function storeReplay(index: UsageIndex, key: number, result: ReplayedFile): void {
  if (result.kind === "cannot") {
    index.db.statement("UPDATE conversation SET replay = 'cannot' WHERE id = ?").run(key)
    return
  }
  const { recorded, strata, compactions, names, kept, strataKept } = result
  index.db
    .statement(
      `UPDATE conversation SET replay = 'done', ${REPLAY_METRICS.map((column) => `${column} = ?`).join(", ")} WHERE id = ?`,
    )
    .run(recorded, strata, compactions, names, kept, strataKept, key)
}
