/** `strata compare`: policies side by side on recorded conversations, as a table, as JSON and as a page. */

import { basename } from "node:path"
import { type Markup, page, withShortNames } from "@strata/page"
import { ALL_POLICIES, REFERENCES, type Scorecard, scorecard, timedReplay } from "@strata/transcripts/replay"
import { readArguments } from "../arguments.ts"
import type { Run } from "../command.ts"
import { COMPARE } from "../descriptions.ts"
import { pluralize } from "../display/numbers.ts"
import type { Terminal } from "../display/terminal.ts"
import { wrapText } from "../display/text.ts"
import { jsonForTerminal } from "../display/visible.ts"
import { checkPagePath, writePage } from "../html/file.ts"
import { forEachFile } from "../inspect/each-file.ts"
import { replayOptions } from "../replay/command.ts"
import { toPageConversation } from "../replay/html-page.ts"
import { namedPolicies } from "../replay/named-policies.ts"
import { replayRemarks } from "../replay/page.ts"
import { recordings } from "../replay/recordings.ts"
import { type ComparedConversation, conversationTable } from "./conversations.ts"
import { scoreTable } from "./score-table.ts"

const WIDEST = 160

export const run: Run = async ({ args, cwd, env, terminal }) => {
  const { values, operands: files } = readArguments(COMPARE, args)
  const policies = values.policies === undefined ? ALL_POLICIES : namedPolicies(values.policies, REFERENCES)
  const place = values.html === undefined ? undefined : await checkPagePath(values.html, cwd)
  const all: ComparedConversation[] = []
  const code = await forEachFile(terminal, async ({ progress, complain }) => {
    for await (const recording of recordings({
      command: COMPARE.name,
      files,
      ...values,
      complain,
      place: { cwd, env },
    })) {
      const onPolicy = (name: string) => progress.show(`${basename(recording.file)} with ${name}`, recording.at)
      const options = { policies, onPolicy, ...replayOptions(values) }
      all.push({ recording, ...(await timedReplay(recording.conversation, options)) })
    }
  })
  if (all.length === 0) {
    terminal.complain(`There is nothing to compare: none of the ${pluralize(files.length, "file")} could be read.\n`)
    return code
  }
  const card = scorecard(all)
  if (values.json) terminal.print(`${jsonForTerminal(asJson(card, all), 2)}\n`)
  else terminal.print(`${report(card, all, terminal).join("\n")}\n`)
  if (place !== undefined) await writePage(place, comparisonPage(card, all), terminal)
  return code
}

function report(card: Scorecard, all: readonly ComparedConversation[], { style, columns }: Terminal): string[] {
  const width = Math.min(columns, WIDEST)
  const remarks = new Set(all.flatMap(replayRemarks))
  return [
    style.bold(
      `${pluralize(card.scores.length, "policy", "policies")} on ${pluralize(card.conversations, "conversation")}`,
    ),
    ...[...remarks]
      .flatMap((remark) => wrapText(all.length > 1 ? `For some: ${remark}` : remark, width))
      .map(style.dim),
    "",
    ...scoreTable(card, { style, width }),
    ...(all.length > 1 ? ["", ...conversationTable(all, { style, width })] : []),
  ]
}

const asJson = (card: Scorecard, all: readonly ComparedConversation[]) => ({
  scorecard: card,
  conversations: all.map(({ recording: { conversation: _, at: __, ...about }, replay, processingMs }) => ({
    ...about,
    ...replay,
    processingMs,
  })),
})

/** Renders a comparison as a page. */
export function comparisonPage(card: Scorecard, all: readonly ComparedConversation[]): Markup {
  return page({
    title: "Strata: policies compared",
    description: [
      "Recorded conversations, run through each policy with the same prices and the same cache. No model was asked.",
      "Answers and pauses are as recorded. If an answer uses content that a policy removed, fetching it again is charged.",
    ],
    scorecard: card,
    conversations: withShortNames(all.map(toPageConversation)),
  })
}
