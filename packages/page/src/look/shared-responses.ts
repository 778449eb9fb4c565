/**
 * Counts each response once. A fork's transcript repeats what its parent was answered, and an imported conversation is in two places. Those
 * that share responses are compared with each other, and every row gets the figures of what is its own.
 */
import { type ConversationResponses, countedElsewhere } from "@strata/transcripts/inspect"
import { digestOf } from "./digest.ts"
import { FIGURES, figuresOf, type LookIndex } from "./look-index.ts"
import type { Recorded } from "./recorded.ts"

interface Member {
  readonly id: number
  readonly file: string
  readonly recorded: Recorded
}

const UPDATE = `UPDATE conversation SET ${FIGURES.map((name) => `${name} = ?`).join(", ")}, unsettled = 0 WHERE id = ?`

/** Settles every conversation that changed, or that shared responses with one that did. */
export function settleShared(index: LookIndex): void {
  const open = new Set(idsOf(index, "SELECT id FROM conversation WHERE unsettled = 1"))
  for (let [first] = open; first !== undefined; [first] = open) {
    const group = index.db.inTransaction(() => {
      const found = groupOf(index, first!)
      if (found.length > 0) settle(index, found)
      return found
    })
    for (const id of [first!, ...group.map((member) => member.id)]) open.delete(id)
  }
}

function settle(index: LookIndex, group: readonly Member[]): void {
  if (group.length === 1) {
    const [{ id }] = group as [Member]
    // it was alone before, or its sharers are gone
    const row = index.db.statement("SELECT repeated FROM conversation WHERE id = ?").get(id)
    if (Number(row?.repeated ?? 0) === 0) {
      index.db.statement("UPDATE conversation SET unsettled = 0 WHERE id = ?").run(id)
      return
    }
  }
  const compared: readonly ConversationResponses[] = group.map(({ file, recorded }) => ({
    file,
    responses: recorded.responses.map(({ key, agent: _, lost: __, ...response }) => ({ id: key, ...response })),
  }))
  for (const [at, elsewhere] of countedElsewhere(compared).entries()) {
    const { id, recorded } = group[at]!
    const keys = new Set(elsewhere.flatMap(({ responses }) => responses.map((response) => response.id)))
    const figures = figuresOf(digestOf(recorded, keys), recorded)
    index.db.statement(UPDATE).run(...FIGURES.map((name) => figures[name]), id)
  }
}

/** A conversation and all that share responses with it, directly or through others. */
function groupOf(index: LookIndex, first: number): readonly Member[] {
  const members = new Map<number, Member>()
  const waiting = [first]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (members.has(id)) continue
    const recorded = index.recorded(id)
    const row = index.db
      .statement(
        "SELECT file.path FROM conversation JOIN file ON file.id = conversation.file WHERE conversation.id = ?",
      )
      .get(id)
    if (!recorded || !row) continue
    members.set(id, { id, file: String(row.path), recorded })
    const others = index.db.statement("SELECT conversation FROM seen WHERE key = ? AND conversation <> ?")
    for (const { key } of recorded.responses)
      for (const { conversation } of others.all(Number.parseInt(key, 16), id))
        if (!members.has(Number(conversation))) waiting.push(Number(conversation))
  }
  return [...members.values()].sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.id - b.id))
}

const idsOf = (index: LookIndex, sql: string): readonly number[] =>
  index.db
    .statement(sql)
    .all()
    .map(({ id }) => Number(id))
