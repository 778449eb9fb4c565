/** Read-only recall over a stored conversation, with the queries of the Recall tool. Another process may have it open. */
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
import { resolveProjectAt, resolveStoreLocation, type StoredConversation, type StoreLocation } from "./list.ts"

/** Result of a recall: as a text of quotations, and as data. */
export interface RecallResult {
  /** `unclear`: the query is invalid, and the text explains why. */
  readonly state: "found" | "nothing" | "unclear"
  readonly text: string
  /** The item with the handle, the texts of the range, or the matches of the search. */
  readonly found: readonly (RecalledItem | RecalledText | RecallMatch)[]
  /** Number of matches of a search that are not in `found`. `gap`: a sentence about what was not searched. */
  readonly more?: number
  readonly gap?: string
}

/** Recall over one conversation. Other conversations are searched only for their owner. */
export interface RecallReader extends AsyncDisposable {
  /** Recalls by handle, by range, or by search. `wording` adapts the hints for follow-up queries in the text. */
  recall(input: RecallInput, wording?: Partial<RecallWording>): Promise<RecallResult>
  close(): Promise<void>
}

const MAX_MATCHES = 20
const MAX_IN_RANGE = 500 // blocks; a program can continue from the last one

export async function openRecall(conversation: StoredConversation, where: StoreLocation = {}): Promise<RecallReader> {
  const { store } = resolveStoreLocation(where)
  const { address, model = "unknown" } = conversation
  const { owner } = where
  const places =
    owner === undefined ? [] : await listProjectNamespaces({ store, owner, project: await resolveProjectAt(where) })
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
    recall: (input, wording = {}) => runQuery(input, { source, wording: { ...FOR_THE_MODEL, ...wording } }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

interface RecallContext {
  readonly source: RecallSource
  readonly wording: RecallWording
}

async function runQuery(input: RecallInput, { source, wording }: RecallContext): Promise<RecallResult> {
  const question = parseRecallInput(input)
  if (question.state === "unclear") return { state: "unclear", text: question.why, found: [] }
  const { content, isError = false } = await runRecall(input, source, wording)
  const text =
    typeof content === "string" ? content : content.map((block) => ("text" in block ? block.text : "")).join("\n")
  if (isError || text.startsWith("Nothing in this")) return { state: "nothing", text, found: [] }
  return { state: "found", text, ...(await fetchData(question, source)) }
}

type ValidQuestion = Exclude<ReturnType<typeof parseRecallInput>, { readonly state: "unclear" }>

async function fetchData(
  question: ValidQuestion,
  source: RecallSource,
): Promise<Pick<RecallResult, "found" | "more" | "gap">> {
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
