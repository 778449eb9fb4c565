/** Memories of a project: list, text, source, age, history with diffs, and how to take something back. */
import type { Memory } from "@strata/core"
import { counted, timeAgo } from "@strata/core/base"
import type { MemoryChange } from "@strata/core/memory"
import { authorWords, editedWords, minuteOf, sourceWords } from "../../labels/memories.ts"
import { html, type Markup, wholeText } from "../markup.ts"
import { empty, tableOf } from "./shell.ts"

export interface MemoriesShown {
  readonly base: string
  readonly memories: readonly Memory[]
  readonly history: readonly MemoryChange[]
  readonly problems: readonly string[]
  readonly now: Date
}

const MAX_CHANGES = 100

export function memoriesView({ base, memories, history, problems, now }: MemoriesShown): Markup {
  const current = memories.filter(({ supersededBy }) => supersededBy === undefined)
  return html`<h1>Memories</h1>
<p class="soft">What this project remembers across conversations. Each change can be taken back.</p>
${problems.map((problem) => html`<p class="problem">${problem}</p>`)}
${
  current.length === 0
    ? empty(
        "Nothing is remembered yet.",
        "Say “remember that …” in a chat, or go on working: what is worth keeping is kept.",
      )
    : html`<ul class="memories">${current.map((memory) => memoryMarkup(memory, { base, now }))}</ul>`
}
<h2>History</h2>
${
  history.length === 0
    ? empty("No changes yet.")
    : tableOf(
        history.toReversed().slice(0, MAX_CHANGES),
        [
          { title: "when", cell: ({ at }) => timeAgo(new Date(at), now), isText: true },
          { title: "by", cell: ({ by }) => authorWords(by), isText: true },
          { title: "why", cell: ({ why }) => why, isText: true },
          { title: "what", cell: editedWords, isText: true },
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
<p class="soft">${[sourceWords(memory), `confirmed ${timeAgo(new Date(confirmed), now)}`, ...(source.conversation === undefined ? [] : [`conversation ${source.conversation.slice(0, 8)}`]), file].join(" · ")}</p>
<details id="text-${id}"><summary>Text</summary><pre tabindex="0">${wholeText(body)}</pre></details>
<p><button type="button" class="danger" data-post="${base}/memories/forget?file=${encodeURIComponent(file)}" data-into="said-${id}" data-asks="Forget “${name}”?" data-asks-more="The text goes to the archive, and the history can bring it back.">Forget</button></p><div id="said-${id}" aria-live="polite"></div></li>`
}

export interface ChangeShown {
  readonly base: string
  readonly change: MemoryChange
  readonly diff: string
}

/** One change as a diff. */
export function changeView({ base, change, diff }: ChangeShown): Markup {
  const { id, at, by, why, files } = change
  return html`<h1>Change ${id}</h1><p>${why}</p><p class="soft">${[minuteOf(at), `by ${authorWords(by)}`, counted(files.length, "file")].join(" · ")}</p>
<pre class="diff" tabindex="0">${diff.split("\n").map(
    (line) => html`<span class="${kindOf(line)}">${wholeText(line)}
</span>`,
  )}</pre>
<p><button type="button" class="danger" data-post="${base}/memories/revert?change=${encodeURIComponent(id)}" data-into="said" data-asks="Take this change back?" data-asks-more="It becomes a new change. Later edits of other lines stay.">Take it back</button></p><div id="said" aria-live="polite"></div>`
}

const kindOf = (line: string): string =>
  line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : line.startsWith("@") ? "place" : "same"
