/** A summary with the sections that the prompt names. Each section keeps the beginning of its text in earlier summaries. */
import { headOf, type Section } from "@strata/core/offline"
import { type ConversationFacts, USER_MESSAGES } from "./conversation-facts.ts"
import { writeSection } from "./sections.ts"

const USUAL_TITLES = [
  "Primary Request and Intent",
  "Key Technical Concepts",
  "Files and Code Sections",
  "Errors and Fixes",
  "Problem Solving",
  "All User Messages",
  "Pending Tasks",
  "Current Work",
  "Optional Next Step",
]
const NOTHING = "Nothing to say here."
const PASSING = /current|next|pending|open/i // sections whose text in an earlier summary is out of date
const MAX_KEPT = 1_500 // characters of a section

export function writeSummary(given: {
  prompt: string
  sections: readonly Section[]
  known: ConversationFacts
}): string {
  const { prompt, sections, known } = given
  const titles = sections.length > 0 ? sections.map(({ title }) => title) : USUAL_TITLES
  const written = titles.map((title, index) => {
    const lines = [...new Set([...keptOf(title, known), ...writeSection(title, known)])]
    const body = lines.length > 0 ? lines : [NOTHING]
    return [`${index + 1}. ${title}:`, ...body.map((line) => `   ${line}`)].join("\n")
  })
  const summary = written.join("\n\n")
  if (!/<summary>/i.test(prompt)) return summary
  const analysis = `The user sent ${known.userMessages.length} messages. ${known.files.length} files came up.`
  const thought = /<analysis>/i.test(prompt) ? `<analysis>\n${analysis}\n</analysis>\n\n` : ""
  return `${thought}<summary>\n${summary}\n</summary>`
}

/** Lines of earlier summaries that still hold. The user's messages are already among the known facts. */
function keptOf(title: string, { earlier, todos }: ConversationFacts): readonly string[] {
  if (USER_MESSAGES.test(title) || (PASSING.test(title) && todos.length > 0)) return []
  return earlier
    .filter((section) => section.title === title)
    .flatMap(({ body }) => headOf(body, MAX_KEPT).split("\n"))
    .map((line) => line.trim())
    .filter((line) => line !== "" && line !== NOTHING)
}
