/** What `strata recall` prints: the text that the Recall tool gives, and the same as data. */

import { readRecallInput } from "@strata/core/internal/tools/session/recall-input"
import type { RecallInput, RecallSource } from "@strata/core/internal/tools/session/recall-source"
import { type RecallWording, recalled } from "@strata/core/internal/tools/session/recall-text"

export interface RecallAnswer {
  readonly text: string
  /** For `--json`. */
  readonly data: unknown
  readonly isFound: boolean
}

const MOST_MATCHES = 20
const MOST_IN_RANGE = 500 // blocks; a script goes on from the last one

export async function answerTo(input: RecallInput, past: RecallSource): Promise<RecallAnswer> {
  const { content, isError = false } = await recalled(input, past, FOR_PEOPLE)
  const text =
    typeof content === "string" ? content : content.map((block) => ("text" in block ? block.text : "")).join("\n")
  const isFound = !isError && !text.startsWith("Nothing in this")
  return { text, data: isFound ? await dataOf(input, past) : { found: [], why: text }, isFound }
}

/** A person gets command lines where the model gets the tool's input. */
const FOR_PEOPLE: RecallWording = {
  preface: "",
  next: commandFor,
  inProject: "--project",
  moreTokens: "more --tokens",
  useSearch: "use --search",
}

function commandFor({ handle, offset, from, to }: RecallInput): string {
  const options = [
    handle ?? "",
    offset === undefined ? "" : `--offset ${offset}`,
    from === undefined ? "" : `--from ${from}`,
    to === undefined ? "" : `--to ${to}`,
  ]
  return ["strata recall", ...options.filter((option) => option !== "")].join(" ")
}

async function dataOf(input: RecallInput, past: RecallSource): Promise<unknown> {
  const question = readRecallInput(input)
  switch (question.state) {
    case "handle":
      return { found: await past.named(question.handle) }
    case "range": {
      const found = []
      for await (const text of (await past.range(question)) ?? []) {
        found.push(text)
        if (found.length === MOST_IN_RANGE) break
      }
      return { found }
    }
    case "search":
      return past.search({ ...question, limit: MOST_MATCHES })
    case "unclear":
      return { found: [], why: question.why }
  }
}
