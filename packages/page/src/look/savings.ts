/** What Strata would have saved, over the conversations that were replayed so far, and which one comes next. */
import { rowQuery } from "./list.ts"
import type { Looked, LookIndex } from "./look-index.ts"
import type { ConversationToReplay, ReplayedFile } from "./replay-file.ts"
import type { LookFilter, LookSavings } from "./report-data.ts"

/** A fork repeats its parent's work, so only the parent is replayed. Without a price or with hardly a turn there is nothing to compare. */
const CAN_BE_REPLAYED = "c.dollars > 0 AND c.turns >= 2 AND c.repeated = 0 AND coalesce(c.replay, '') <> 'cannot'"

export function savingsIn({ index, scope }: Looked, filter: LookFilter): LookSavings {
  const { from, to } = filter
  const { where, values } = rowQuery({ scope, filter })
  const days = `${from === undefined ? "1" : "c.last >= ?"} AND ${to === undefined ? "1" : "c.first < ?"}`
  const row = index.db
    .statement(
      `SELECT count(*) AS all_of, coalesce(sum(c.replay = 'done'), 0) AS done,
         coalesce(sum(c.replay_recorded), 0) AS recorded, coalesce(sum(c.replay_strata), 0) AS strata,
         coalesce(sum(c.replay_strata > c.replay_recorded), 0) AS dearer,
         coalesce(sum(max(0, c.replay_strata - c.replay_recorded)), 0) AS dearer_by,
         coalesce(sum(c.replay_needed), 0) AS needed, coalesce(sum(c.replay_in_view), 0) AS in_view,
         coalesce(sum(c.replay_found), 0) AS found
       FROM conversation c JOIN file ON file.id = c.file WHERE ${where} AND ${days} AND ${CAN_BE_REPLAYED}`,
    )
    .get(...values, ...(from === undefined ? [] : [from]), ...(to === undefined ? [] : [`${to}U`]))!
  const number = (name: string) => Number(row[name])
  const [recorded, strata] = [number("recorded"), number("strata")]
  return {
    ...{ replayed: number("done"), of: number("all_of"), recorded, strata, dollars: recorded - strata },
    share: recorded === 0 ? 0 : (recorded - strata) / recorded,
    dearer: { conversations: number("dearer"), dollars: number("dearer_by") },
    names: { needed: number("needed"), inView: number("in_view"), withinSearch: number("in_view") + number("found") },
  }
}

export interface ReplayNext extends ConversationToReplay {
  readonly key: number
}

const RECENT_DAYS = 30

const LEAST_BYTES = 200_000 // every replay takes some time

/** Those of the last days first, and among them what is worth most for the time it takes: a replay's time follows the size. */
export function nextReplays({ index, scope }: Looked, most: number): readonly ReplayNext[] {
  const { where, values } = rowQuery({ scope, filter: {} })
  return index.db
    .statement(
      `SELECT c.id, c.name, file.path FROM conversation c JOIN file ON file.id = c.file
       WHERE ${where} AND ${CAN_BE_REPLAYED} AND c.replay IS NULL
       ORDER BY julianday(c.last) >= (SELECT max(julianday(last)) FROM conversation) - ${RECENT_DAYS} DESC,
         c.dollars / max(file.size, ${LEAST_BYTES}) DESC LIMIT ?`,
    )
    .all(...values, most)
    .map(({ id, name, path }) => ({ key: Number(id), name: String(name), path: String(path) }))
}

/** A conversation whose file has changed in the meantime has another key. */
export function storeReplay(index: LookIndex, key: number, result: ReplayedFile): void {
  if (result.kind === "cannot") {
    index.db.statement("UPDATE conversation SET replay = 'cannot' WHERE id = ?").run(key)
    return
  }
  const { recorded, strata, needed, inView, found } = result
  index.db
    .statement(
      `UPDATE conversation SET replay = 'done', replay_recorded = ?, replay_strata = ?, replay_needed = ?, replay_in_view = ?,
         replay_found = ? WHERE id = ?`,
    )
    .run(recorded, strata, needed, inView, found, key)
}
