/** Strata, called by a program without special knowledge of it. */
import { type CompactedMessages, CompactionFailedError, compactMessages, openConversation } from "@strata/core"
import { type Contestant, listRun, type Run, type StartOptions } from "../run.ts"
import { type PlainMessage, textOf } from "../session.ts"
import { temporaryDirectory } from "../temporary.ts"
import { standIn } from "./stand-in.ts"

/** The budget is in tokens of o200k, so `compactMessages` counts for a model with that tokenizer. */
const MODEL = "gpt-5"
/**
 * Names that Strata writes itself: handles of messages outside the view, the path of the journal, and counts of names that are not listed.
 */
const HANDLES = /\b[0-9a-f]{10}(?:\.\d+)?\b|\S*strata-scorecard-\S*|\[\d+ more are not listed, \d+ of them/g

export const STRATA: readonly Contestant[] = [
  {
    ...{
      name: "Strata carry",
      call: "carry(messages, { budget, model })",
      takesBudget: true,
      hasStandIn: false,
      own: HANDLES,
    },
    start: async ({ budget }) =>
      listRun(async (messages) => viewOf(await compactMessages([...messages], { budget, model: MODEL }))),
  },
  {
    ...{
      name: "Strata carry, state",
      call: "carry(messages, { budget, model, before: state })",
      takesBudget: true,
      hasStandIn: false,
    },
    own: HANDLES,
    start: async ({ budget }) => {
      let before: CompactedMessages<PlainMessage>["state"] | undefined
      return listRun(async (messages) => {
        const carried = await compactMessages([...messages], { budget, model: MODEL, ...(before ? { before } : {}) })
        before = carried.state
        return viewOf(carried)
      })
    },
  },
  {
    ...{
      name: "Strata carry, stand-in",
      call: "carry(messages, { budget, model, summary }), the summary half of it",
      takesBudget: true,
    },
    ...{ hasStandIn: true, own: HANDLES },
    start: async ({ budget }) =>
      listRun(async (messages) => {
        const text = textOf(messages)
        const summary = async () => standIn(text, { tokens: Math.floor(budget / 2), source: () => text })
        return viewOf(await compactMessages([...messages], { budget, model: MODEL, summary }))
      }),
  },
  {
    ...{
      name: "Strata compact",
      call: "openConversation, compact({ budget }), without a model",
      takesBudget: true,
      hasStandIn: false,
    },
    own: HANDLES,
    start: conversationRun,
  },
]

const viewOf = ({ messages }: CompactedMessages<PlainMessage>): readonly PlainMessage[] =>
  messages.map(({ role, content }) => ({ role, content }) as PlainMessage)

/** A conversation whose client resends its full message list, with no SDK client and no key. */
async function conversationRun({ budget }: StartOptions): Promise<Run> {
  const place = temporaryDirectory()
  const chat = await openConversation({
    ...{ model: "claude-opus-5-5", dir: place.directory, cwd: place.directory, id: "scorecard" },
    ...{ clock: { now: () => new Date(0) }, env: {}, settings: { memory: "off" } },
  })
  const list: PlainMessage[] = []
  return {
    add: async (messages) => {
      list.push(...messages)
      await chat.syncMessages(list)
    },
    compact: async () => {
      await chat.compact({ budget }).catch((error) => {
        if (!(error instanceof CompactionFailedError)) throw error // a refusal leaves the view over the budget
      })
      return (await chat.prepare()).messages as readonly PlainMessage[]
    },
    close: async () => {
      await chat.close()
      place.remove()
    },
  }
}
