/** Scores of one compaction: how much of the earlier messages and actions is in the text that it leaves. */

import { handleOf } from "@strata/core"
import { nameFinder } from "../../../packages/transcripts/src/inspect/measured-names.ts"
import { isIn, plain } from "./find-in-text.ts"
import { isQuoted, userQuotesIn } from "./quotes.ts"
import type { Remark, UserStatements } from "./statements.ts"

// Messages that a text leads to: by their own handle, or by an omitted range of handles that includes them.

const RANGE = /left out: ([0-9a-f]{10})(?: to ([0-9a-f]{10}))?/g

/** `messages`: the user's messages, oldest first. */
export function handlesIn(text: string, messages: readonly Remark[]): (remark: Remark) => boolean {
  const order = new Map(messages.map(({ uuid }, at) => [handleOf(uuid), at]))
  const ranges = [...text.matchAll(RANGE)].map(
    ([, first, last = first]) => [order.get(first!), order.get(last!)] as const,
  )
  return ({ uuid }) => {
    const handle = handleOf(uuid)
    const at = order.get(handle)
    const isWithin = ([first = Number.POSITIVE_INFINITY, last = -1]: (typeof ranges)[number]) =>
      at !== undefined && first <= at && at <= last
    return text.includes(handle) || ranges.some(isWithin)
  }
}

/** `found` of `of` items were found. */
export interface Share {
  readonly found: number
  readonly of: number
}

/** All scores in the order of the table. */
export const SCORES = {
  namesUsedAgain: "names used again later",
  namesStated: "names said",
  namesFromResults: "names that only results had, used later",
  hashes: "hashes among the names said or used again",
  numbers: "numbers among them",
  otherNames: "all other names among them",
  messagesInReach: "the user's messages, in view or by a handle in view",
  refusalsInReach: "remarks at refusals, in view or by a handle in view",
  answersInReach: "answers to questions, in view or by a handle in view",
  userMessages: "the user's messages, word for word",
  newerMessages: "… those since the previous boundary",
  olderMessages: "… those from before the previous boundary",
  refusals: "what the user said when refusing a tool call",
  rules: "standing rules, word for word",
  changedByPath: "files changed or created, by full path",
  changedInProject: "… by path relative to the project",
  changedByName: "… by name",
  readByPath: "files only read, by full path",
  readByName: "… by name",
  listedNotFound: "listed user messages that the user never sent",
  inlineNotFound: "other quotes of the user that the user never said",
} as const

const HASH = /^(?=.*\d)(?=.*[a-f])[0-9a-f]{7,64}$/
const NUMBER = /^[\d.,]*\d(?:%|[a-z]{1,2})?$/i

export type ScoreName = keyof typeof SCORES
export type Scores = Readonly<Record<ScoreName, Share>>

export function measure(statements: UserStatements, standing: string): Scores {
  const text = plain(standing)
  const present = (pieces: readonly string[]): Share => ({
    found: pieces.filter((piece) => isIn(piece, text)).length,
    of: pieces.length,
  })
  const missing = (quotes: readonly string[]): Share => ({
    found: quotes.filter((quote) => !isQuoted(quote, statements.everything)).length,
    of: quotes.length,
  })
  const has = nameFinder(standing)
  const names = (wanted: readonly string[]): Share => ({ found: wanted.filter(has).length, of: wanted.length })
  const used = [...new Set([...statements.namesStated, ...statements.namesUsedAgain])]
  const messages = [...statements.olderMessages, ...statements.newerMessages]
  const hasHandle = handlesIn(standing, messages)
  const inReach = (remarks: readonly Remark[]): Share => ({
    found: remarks.filter((remark) => isIn(remark.text, text) || hasHandle(remark)).length,
    of: remarks.length,
  })
  const verbatim = (remarks: readonly Remark[]) => present(remarks.map((remark) => remark.text))
  const { listed, inline } = userQuotesIn(standing)
  return {
    namesUsedAgain: names(statements.namesUsedAgain),
    namesStated: names(statements.namesStated),
    namesFromResults: names(statements.namesFromResults),
    hashes: names(used.filter((name) => HASH.test(name))),
    numbers: names(used.filter((name) => NUMBER.test(name))),
    otherNames: names(used.filter((name) => !HASH.test(name) && !NUMBER.test(name))),
    messagesInReach: inReach(messages),
    refusalsInReach: inReach(statements.refusals),
    answersInReach: inReach(statements.answers),
    userMessages: verbatim(messages),
    newerMessages: verbatim(statements.newerMessages),
    olderMessages: verbatim(statements.olderMessages),
    refusals: verbatim(statements.refusals),
    rules: present(statements.rules),
    changedByPath: present(statements.changed.map(({ path }) => path)),
    changedInProject: present(statements.changed.map(({ inProject }) => inProject)),
    changedByName: present(statements.changed.map(({ name }) => name)),
    readByPath: present(statements.read.map(({ path }) => path)),
    readByName: present(statements.read.map(({ name }) => name)),
    listedNotFound: missing(listed),
    inlineNotFound: missing(inline),
  }
}

/** Adds up several compactions. Each message, file and fact has the same weight. */
export function total(all: readonly Scores[]): Scores {
  const sum = (name: ScoreName): Share => ({
    found: all.reduce((found, scores) => found + scores[name].found, 0),
    of: all.reduce((of, scores) => of + scores[name].of, 0),
  })
  return Object.fromEntries((Object.keys(SCORES) as ScoreName[]).map((name) => [name, sum(name)])) as unknown as Scores
}
