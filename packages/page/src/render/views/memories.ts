/** Memories of a project: text, source, age, history with diffs, and actions to undo changes. */
import type { Memory } from "@strata/core"
import { formatTimeAgo, pluralize } from "@strata/core/base"
import type { MemoryChange } from "@strata/core/memory"
import { authorLabel, describeEdits, describeSource, formatMinute } from "../../labels/memories.ts"
import { fullText, html, type Markup } from "../markup.ts"
import { emptyState, tableMarkup } from "./shell.ts"

export interface MemoriesViewInput {
  readonly base: string
  readonly memories: readonly Memory[]
  readonly history: readonly MemoryChange[]
  readonly problems: readonly string[]
  readonly now: Date
}

const MAX_CHANGES = 100

export function memoriesView({ base, memories, history, problems, now }: MemoriesViewInput): Markup {
  const current = memories.filter(({ supersededBy }) => supersededBy === undefined)
  return html`<h1>Memories</h1>
<p class="soft">What this project remembers across conversations. Each change can be reverted.</p>
${problems.map((problem) => html`<p class="problem">${problem}</p>`)}
${
  current.length === 0
    ? emptyState(
        "Nothing is remembered yet.",
        "Say “remember that …” in a chat, or continue working: useful facts are saved automatically.",
      )
    : html`<ul class="memories">${current.map((memory) => memoryMarkup(memory, { base, now }))}</ul>`
}
<h2>History</h2>
${
  history.length === 0
    ? emptyState("No changes yet.")
    : tableMarkup(
        history.toReversed().slice(0, MAX_CHANGES),
        [
          { title: "when", cell: ({ at }) => formatTimeAgo(new Date(at), now), isText: true },
          { title: "by", cell: ({ by }) => authorLabel(by), isText: true },
          { title: "why", cell: ({ why }) => why, isText: true },
          { title: "what", cell: describeEdits, isText: true },
          { title: "", cell: ({ id }) => html`<a href="${base}/memories/changes/${id}">difference</a>`, isText: true },
        ],
        { caption: "Changes, newest first" },
      )
}`
}

function memoryMarkup(memory: Memory, { base, now }: { readonly base: string; readonly now: Date }): Markup {
  const { file, name, description, type, confirmed, body, source } = memory
  const id = file.replace(/[^\w-]/g, "-")
  return html`<li class="memory" id="memory-${id}"><h3>${name} <span class="kind">${type}</span></h3>
<p>${description}</p>
<p class="soft">${[describeSource(memory), `confirmed ${formatTimeAgo(new Date(confirmed), now)}`, ...(source.conversation === undefined ? [] : [`conversation ${source.conversation.slice(0, 8)}`]), file].join(" · ")}</p>
<details id="text-${id}"><summary>Text</summary><pre tabindex="0">${fullText(body)}</pre></details>
<p><button type="button" class="danger" data-post="${base}/memories/forget?file=${encodeURIComponent(file)}" data-into="result-${id}" data-asks="Forget “${name}”?" data-asks-more="The text goes to the archive, and the history can bring it back.">Forget</button></p><div id="result-${id}" aria-live="polite"></div></li>`
}

export interface ChangeViewInput {
  readonly base: string
  readonly change: MemoryChange
  readonly diff: string
}

/** Renders a change as a diff. */
export function changeView({ base, change, diff }: ChangeViewInput): Markup {
  const { id, at, by, why, files } = change
  return html`<h1>Change ${id}</h1><p>${why}</p><p class="soft">${[formatMinute(at), `by ${authorLabel(by)}`, pluralize(files.length, "file")].join(" · ")}</p>
<pre class="diff" tabindex="0">${diff.split("\n").map(
    (line) => html`<span class="${diffLineClass(line)}">${fullText(line)}
</span>`,
  )}</pre>
<p><button type="button" class="danger" data-post="${base}/memories/revert?change=${encodeURIComponent(id)}" data-into="result" data-asks="Revert this change?" data-asks-more="It becomes a new change. Later edits of other lines stay.">Revert</button></p><div id="result" aria-live="polite"></div>`
}

const diffLineClass = (line: string): string =>
  line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : line.startsWith("@") ? "place" : "same"
