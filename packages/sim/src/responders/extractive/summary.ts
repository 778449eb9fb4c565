/** A summary in the sections that the prompt names. Of earlier summaries, each section keeps its beginning. */
import { headOf, type Section } from "@strata/core/offline"
import { type Known, USER_MESSAGES } from "./known.ts"
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
const PASSING = /current|next|pending|open/i // what an earlier summary says of it no longer holds
const MAX_KEPT = 1_500 // characters of a section

export function writeSummary(given: { prompt: string; sections: readonly Section[]; known: Known }): string {
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

/** The lines of earlier summaries that still hold. The user's messages are among the known ones. */
function keptOf(title: string, { earlier, todos }: Known): readonly string[] {
  if (USER_MESSAGES.test(title) || (PASSING.test(title) && todos.length > 0)) return []
  return earlier
    .filter((section) => section.title === title)
    .flatMap(({ body }) => headOf(body, MAX_KEPT).split("\n"))
    .map((line) => line.trim())
    .filter((line) => line !== "" && line !== NOTHING)
}
