/** Splits Markdown into sentences: prose without code, with every table cell, list item and heading separate. */

export interface Sentence {
  readonly text: string
  readonly line: number
  readonly words: number
}

export function sentencesOf(markdown: string): readonly Sentence[] {
  return passages(markdown).flatMap(({ text, line }) =>
    text
      .split(/(?<=[.!?…]["')\]*]*)\s+/)
      .filter((sentence) => /\p{L}/u.test(sentence))
      .map((sentence) => ({ text: sentence, line, words: countWords(sentence) })),
  )
}

export const countWords = (sentence: string): number =>
  sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}`]/u.test(word)).length

interface Passage {
  readonly text: string
  readonly line: number
}

/** Joins the lines of a paragraph or list item. Each heading and table cell is a passage of its own. */
function passages(markdown: string): readonly Passage[] {
  const found: Passage[] = []
  let open: { text: string; line: number } | undefined
  let fence: string | undefined
  const close = () => {
    if (open) found.push({ ...open, text: plain(open.text) })
    open = undefined
  }
  const withoutNotes = markdown.replace(/<!--[\s\S]*?-->/g, (note) => note.replace(/[^\n]/g, ""))
  for (const [index, raw] of withoutNotes.split("\n").entries()) {
    const line = index + 1
    const text = raw.trim()
    const marker = /^(`{3,}|~{3,})/.exec(text)?.[1]
    if (marker && (!fence || text === fence)) {
      close()
      fence = fence ? undefined : marker
    } else if (fence) {
      // code
    } else if (text === "" || /^[-:| ]+$/.test(text)) close()
    else if (text.startsWith("|")) {
      close()
      for (const cell of text.split(/(?<!\\)\|/)) if (cell.trim()) found.push({ text: plain(cell), line })
    } else if (text.startsWith("#")) {
      close()
      found.push({ text: plain(text.replace(/^#+/, "")), line })
    } else if (/^(?:[-*+]|\d+\.)\s/.test(text)) {
      close()
      open = { text: text.replace(/^(?:[-*+]|\d+\.)\s+/, ""), line }
    } else if (open) open.text += ` ${text}`
    else open = { text, line }
  }
  close()
  return found
}

/** Replaces inline code by one word, which is not searched, and a link by its text. */
const plain = (text: string): string =>
  text
    .replace(/`+[^`]*`+/g, "`code`")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .trim()
