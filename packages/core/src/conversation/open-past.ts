/** The past of a kept conversation, to ask it what the Recall tool asks. Reads only, so another process may have it open. */
import { listProjectNamespaces } from "../journal/project-namespaces.ts"
import { ConversationRecall } from "../recall/conversation-recall.ts"
import { createEstimator } from "../tokens/estimate.ts"
import { findModel } from "../tokens/models.ts"
import { parseRecallInput } from "../tools/session/recall-input.ts"
import type {
  RecalledItem,
  RecalledText,
  RecallInput,
  RecallMatch,
  RecallSource,
} from "../tools/session/recall-source.ts"
import { FOR_THE_MODEL, type RecallWording, runRecall } from "../tools/session/recall-text.ts"
import { keptIn, projectIn, type StoredConversation, type StoreLocation } from "./list.ts"

/** What a question about the past found: as a text of quotations, and as data. */
export interface RecallAnswer {
  /** `unclear`: the question cannot be understood, and the text says why. */
  readonly state: "found" | "nothing" | "unclear"
  readonly text: string
  /** What has the handle, the texts of the range, or the matches of the search. */
  readonly found: readonly (RecalledItem | RecalledText | RecallMatch)[]
  /** Of a search: matches beyond those in `found`, and what was not searched, as a sentence. */
  readonly more?: number
  readonly gap?: string
}

/** The past of one conversation. It looks into others only for the owner whose it is. */
export interface RecallReader extends AsyncDisposable {
  /** Finds what a handle names, a range, or what fits a search. `wording` says how the text names what to ask next. */
  recall(input: RecallInput, wording?: Partial<RecallWording>): Promise<RecallAnswer>
  close(): Promise<void>
}

const MAX_MATCHES = 20
const MAX_IN_RANGE = 500 // blocks; a program goes on from the last one

export async function openRecall(conversation: StoredConversation, where: StoreLocation = {}): Promise<RecallReader> {
  const { store } = keptIn(where)
  const { address, model = "unknown" } = conversation
  const { owner } = where
  const places =
    owner === undefined ? [] : await listProjectNamespaces({ store, owner, project: await projectIn(where) })
  const isShared = places.includes(address.project)
  const journal = await store.open(address, { access: "read" })
  const estimator = createEstimator(findModel(model).facts.family)
  const source = new ConversationRecall({
    ...{ store, journal, isShared, namespaces: async () => (isShared ? places : []) },
    estimate: (text) => estimator.text(text),
  })
  const close = async () => {
    source.close()
    await journal.close()
  }
  return {
    recall: (input, wording = {}) => answerTo(input, { source, wording: { ...FOR_THE_MODEL, ...wording } }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

interface Asked {
  readonly source: RecallSource
  readonly wording: RecallWording
}

async function answerTo(input: RecallInput, { source, wording }: Asked): Promise<RecallAnswer> {
  const question = parseRecallInput(input)
  if (question.state === "unclear") return { state: "unclear", text: question.why, found: [] }
  const { content, isError = false } = await runRecall(input, source, wording)
  const text =
    typeof content === "string" ? content : content.map((block) => ("text" in block ? block.text : "")).join("\n")
  if (isError || text.startsWith("Nothing in this")) return { state: "nothing", text, found: [] }
  return { state: "found", text, ...(await dataOf(question, source)) }
}

type Clear = Exclude<ReturnType<typeof parseRecallInput>, { readonly state: "unclear" }>

async function dataOf(question: Clear, source: RecallSource): Promise<Pick<RecallAnswer, "found" | "more" | "gap">> {
  switch (question.state) {
    case "handle":
      return { found: await source.findByHandle(question.handle) }
    case "range": {
      const found = []
      for await (const text of (await source.range(question)) ?? []) {
        found.push(text)
        if (found.length === MAX_IN_RANGE) break
      }
      return { found }
    }
    case "search":
      return source.search({ ...question, limit: MAX_MATCHES })
  }
}
