/**
 * The sections of an earlier summary, from a model or from here. What a model wrote as prose becomes entries, so nothing of it is lost when
 * the next summary only quotes. The sentences that programs put around a summary are left out.
 */
import { asEntry, readEntries, readParagraphs, type Section, splitDocument } from "./document.ts"

/** How paragraphs around a summary begin: ours, and those of Claude Code. */
const FRAME = [
  "This conversation continues an earlier one",
  "This session is being continued",
  "If something exact is missing here",
  "The newest messages of the earlier conversation follow",
  "Go on with the last task",
  "You are working on your own",
  "If you need specific details from before",
  "Please continue the conversation",
  "Continue the conversation from where",
  "Recent messages are preserved verbatim",
] as const
/** Fixed lines of our own summaries. */
const FILLING = /^(?:Nothing in the conversation\.|\(\d+ more left out here\))$/

/** Where prose without sections belongs. */
const WHOLE = "Primary Request and Intent"

export function earlierSections(summary: string): Section[] {
  const plain = summary.replace(/<\/summary>\s*$/i, "")
  const sections = splitDocument(plain)
  const whole = { title: WHOLE, heading: "", remark: "", body: plain.replace(/^Summary:$/m, "") }
  return (sections.length > 0 ? sections : [whole]).map((section) => ({
    ...section,
    body: asEntries(section)
      .map((entry) => `- ${asEntry(entry)}`)
      .join("\n"),
  }))
}

function asEntries({ remark, body }: Section): readonly string[] {
  return [remark.trim(), ...readParagraphs(body), ...readEntries(body)].filter(
    (entry) => entry !== "" && !FILLING.test(entry) && !isFrame(entry),
  )
}

const isFrame = (entry: string): boolean => FRAME.some((beginning) => entry.startsWith(beginning))
