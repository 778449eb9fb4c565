/**
 * Text from models, tools, files and servers, made harmless for a terminal: every character that controls a terminal or cannot be seen
 * is replaced by a sign. Nothing is removed, so what someone tried to hide can be read: ESC appears as `␛`, U+202E as `<U+202E>`.
 */

/** Emoji and some scripts need joiners and selectors. They count as invisible only where they join nothing. */
const JOINED_EMOJI = String.raw`(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\u{1f1e6}-\u{1f1ff}][\ufe0e\ufe0f]?)\u200d`
const JOINED_LETTER = String.raw`(?<=(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])[\p{L}\p{M}])[\u200c\u200d]`
const EMOJI_LOOK = String.raw`(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]`
const KEYCAP = String.raw`(?<=[#*0-9])\ufe0f(?=\u20e3)`
const HAN_FORM = String.raw`(?<=\p{Script=Han})[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]`
/** Mongolian free variation selectors and vowel separator, inside a word. */
const MONGOLIAN = String.raw`(?<=\p{Script=Mongolian})[\u180b-\u180f]`
const NEEDED = [JOINED_EMOJI, JOINED_LETTER, EMOJI_LOOK, KEYCAP, HAN_FORM, MONGOLIAN].join("|")

/** Controls, C1 controls, bidi controls, zero-width and tag characters, fillers, line separators, halves of a surrogate pair. */
const HIDDEN_CLASS = String.raw`\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Cs}\u2028\u2029\ufff9-\ufffb\u{13430}-\u{1343f}`
const HIDDEN = new RegExp(`[${HIDDEN_CLASS}]`, "gu")
const NEEDED_OR_HIDDEN = new RegExp(`(?<needed>${NEEDED})|[${HIDDEN_CLASS}]`, "gu")

/** Most text has none of them. Tab and line feed pass. */
const SUSPECT = new RegExp(`(?![\\t\\n])[${HIDDEN_CLASS}]`, "u")

const FIRST_PICTURE = 0x2400 // U+2400 shows U+0000, and so on up to U+001F
const DELETE = 0x7f
const DELETE_PICTURE = "\u2421"

/** The text with line ends and tabs as they are. Doing it twice changes nothing. */
export function visible(text: string): string {
  if (!SUSPECT.test(text)) return text
  return text.replaceAll("\r\n", "\n").replace(NEEDED_OR_HIDDEN, (found, needed: string | undefined) => {
    return needed !== undefined || found === "\n" || found === "\t" ? found : signFor(found)
  })
}

function signFor(hidden: string): string {
  const code = hidden.codePointAt(0)!
  if (code < 0x20) return String.fromCodePoint(FIRST_PICTURE + code)
  return code === DELETE ? DELETE_PICTURE : `<U+${hexOf(code)}>`
}

const hexOf = (code: number): string => code.toString(16).toUpperCase().padStart(4, "0")

/** Parameters and one final character, never words: leaving it out hides nothing. Programs colour their output with it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequence starts with one
const CSI = /\u001b\[[0-9;:<=>?]*[ -/]*[@-~]/g
const BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]+/g

/** The text as one line, for titles, names and lists. */
export function printable(text: string): string {
  return visible(text.replace(CSI, "").replace(BREAKS, " "))
}

/** The same text without loss: JSON text in which everything invisible is an escape. */
export function visibleJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, undefined, indent)
  return text.replace(HIDDEN, (found) => (found === "\n" ? found : escapesFor(found)))
}

const escapesFor = (found: string): string =>
  Array.from({ length: found.length }, (_, i) => `\\u${found.charCodeAt(i).toString(16).padStart(4, "0")}`).join("")

/** How many characters before a piece decide about its first one: an emoji and its selector. */
const CONTEXT = 4

/** Makes a stream of pieces visible. A letter or line end split between two pieces comes out whole. */
export function visibleStream(): (piece: string) => string {
  let before = ""
  let held = ""
  return (piece) => {
    const all = held + piece
    held = /(?:\r|\ufe0f|[\ud800-\udbff])$/.exec(all)?.[0] ?? ""
    const text = held === "" ? all : all.slice(0, -held.length)
    const shown = visible(before + text).slice(visible(before).length)
    before = contextAfter(before + text)
    return shown
  }
}

/** Ends before a piece: never starts inside a letter, and has no line end whose meaning the next piece could change. */
function contextAfter(text: string): string {
  const end = text.slice(-CONTEXT)
  return /^[\udc00-\udfff]/.test(end) ? end.slice(1) : end
}
