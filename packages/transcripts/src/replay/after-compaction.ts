/** Measures the view right after each compaction: changed files, correct paths, and verbatim rules of the user. */

import { renderAttachment, textOf, toBlocks } from "@strata/core/messages"
import type { EntryDraft } from "@strata/core/store"
import { fileFate, type Views } from "@strata/core/views"
import { blockText } from "../inspect/block-text.ts"
import { type AfterCompaction, NO_COMPACTION } from "./report.ts"

const PATH = /(?<![\w/.:])(?:[\w@.-]+)?(?:\/[\w@.-]+)+\.\w{1,8}\b/g

export class AfterCompactions {
  #found: AfterCompaction = NO_COMPACTION
  #summary = ""

  get found(): AfterCompaction {
    return this.#found
  }

  /** Tokens of the newest summary. */
  summaryTokens(estimate: (text: string) => number): number {
    return Math.round(estimate(this.#summary))
  }

  measure(drafts: readonly EntryDraft[], views: Views): void {
    this.#summary = drafts.map(summaryIn).join("")
    const trail = [this.#summary, ...drafts.map(attachedIn)].map(aboutFiles).join("\n")
    const view = views.context
      .messages()
      .messages.flatMap(({ content }) => content.map(blockText))
      .join("\n")
    const changed = [...views.artifacts.files].filter(([, facts]) => ["created", "changed"].includes(fileFate(facts)))
    const paths = [...new Set([...trail.matchAll(PATH)].map(([path]) => path))]
    const touched = [...views.artifacts.files.keys()]
    const rules = views.words.messages.flatMap((word) => word.rules)
    const plainView = plain(view)
    const { changedFiles, changedFilesNamed, ...before } = this.#found
    this.#found = {
      changedFiles: changedFiles + changed.length,
      changedFilesNamed: changedFilesNamed + changed.filter(([path]) => view.includes(fileName(path))).length,
      paths: before.paths + paths.length,
      pathsTouched: before.pathsTouched + paths.filter((path) => touched.some((each) => each.endsWith(path))).length,
      rules: before.rules + rules.length,
      rulesVerbatim: before.rulesVerbatim + rules.filter((rule) => plainView.includes(plain(rule))).length,
    }
  }
}

const TITLE = /^(?:#+|\d+\.) /

/** Keeps the sections of a text that concern files. */
function aboutFiles(text: string): string {
  let isAboutFiles = false
  return text
    .split("\n")
    .filter((line) => {
      if (TITLE.test(line)) isAboutFiles = /\bfiles?\b/i.test(line)
      return isAboutFiles
    })
    .join("\n")
}

/** The last two parts of a path, which is how users and models name files. */
const fileName = (path: string) => path.split("/").slice(-2).join("/")
const plain = (text: string) => text.replaceAll(/\s+/g, " ").trim()

const summaryIn = (draft: EntryDraft) =>
  draft.type === "user" && draft.isCompactSummary ? textOf(toBlocks(draft.message.content)) : ""
const attachedIn = (draft: EntryDraft) =>
  draft.type === "attachment" && draft.attachment.type === "carried_facts"
    ? textOf(renderAttachment(draft.attachment))
    : ""
