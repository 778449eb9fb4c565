/**
 * Converts HTML to short, readable text: headings, lists, links and code as Markdown, without anything that is not content. Takes one pass
 * in linear time on any input, and interprets broken markup as browsers do.
 */

export interface HtmlText {
  readonly title?: string
  readonly text: string
}

/** Elements without readable text. */
const SKIPPED = new Set([
  "script",
  "style",
  "template",
  "svg",
  "math",
  "iframe",
  "object",
  "select",
  "noscript",
  "canvas",
])
/** Elements with raw content, which only their own end tag ends. */
const RAW = new Set(["script", "style", "iframe", "noscript", "title", "textarea"])
const BLOCKS = new Set(
  "address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody tfoot thead tr ul".split(
    " ",
  ),
)
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  copy: "©",
  reg: "®",
  trade: "™",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  laquo: "«",
  raquo: "»",
  bull: "•",
  middot: "·",
  times: "×",
  rarr: "→",
  larr: "←",
  euro: "€",
  pound: "£",
  sect: "§",
  deg: "°",
  shy: "",
  zwnj: "",
}

export function htmlToText(html: string, base?: URL): HtmlText {
  const writer = new Writer(base)
  for (const token of tokens(html)) {
    if (token.kind === "text") writer.text(token.text)
    else if (token.kind === "start") writer.start(token)
    else writer.end(token.name)
  }
  return writer.finish()
}

type Token =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "start"; readonly name: string; readonly attributes: string }
  | { readonly kind: "end"; readonly name: string }

function* tokens(html: string): Generator<Token> {
  let at = 0
  while (at < html.length) {
    const open = html.indexOf("<", at)
    if (open !== at) yield { kind: "text", text: html.slice(at, open < 0 ? html.length : open) }
    if (open < 0) return
    if (html.startsWith("<!--", open)) at = after(html, "-->", open + 4)
    else if (/[!?]/.test(html[open + 1] ?? "")) at = after(html, ">", open)
    else if (/^<\/?[a-z]/i.test(html.slice(open, open + 3))) {
      const close = tagEnd(html, open)
      const inside = html.slice(open + 1, close)
      const isEnd = inside.startsWith("/")
      const name = /^\/?([a-z][^\s/>]*)/i.exec(inside)![1]!.toLowerCase()
      at = close + 1
      yield isEnd ? { kind: "end", name } : { kind: "start", name, attributes: inside.slice(name.length) }
      if (isEnd || !RAW.has(name)) continue
      const end = rawEnd(html, name, at)
      yield { kind: "text", text: html.slice(at, end) }
      at = end
    } else {
      yield { kind: "text", text: "<" }
      at = open + 1
    }
  }
}

const after = (html: string, mark: string, from: number): number => {
  const found = html.indexOf(mark, from)
  return found < 0 ? html.length : found + mark.length
}

function rawEnd(html: string, name: string, from: number): number {
  const endTag = new RegExp(`</${name}(?=[\\s/>]|$)`, "gi")
  endTag.lastIndex = from
  return endTag.exec(html)?.index ?? html.length
}

/** Position of the `>` that ends a tag, outside quoted values. An unclosed tag includes the rest, as in browsers. */
function tagEnd(html: string, from: number): number {
  let quote = ""
  for (let at = from + 1; at < html.length; at++) {
    const character = html[at]!
    if (quote !== "") {
      if (character === quote) quote = ""
    } else if (character === ">") return at
    else if ((character === '"' || character === "'") && /[=\s]/.test(html[at - 1]!)) quote = character
  }
  return html.length
}

function attribute(attributes: string, name: string): string | undefined {
  const match = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, "i").exec(attributes)
  const value = match?.[1] ?? match?.[2] ?? match?.[3]
  return value === undefined ? undefined : decode(value).trim()
}

function decode(text: string): string {
  return text.replace(/&(?:#(\d+)|#x([\da-f]+)|([a-z]{2,8}));?/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
    return isCharacter ? String.fromCodePoint(code) : "\u{FFFD}"
  })
}

class Writer {
  readonly #base: URL | undefined
  readonly #out: string[] = []
  #title: string | undefined
  #inTitle = false
  /** The element being skipped, and its nesting depth in elements with the same name. */
  #skipping: { readonly name: string; depth: number } | undefined
  #preformatted = 0
  #lists: { readonly ordered: boolean; items: number }[] = []
  #link: { readonly href: string | undefined; readonly at: number } | undefined

  constructor(base: URL | undefined) {
    this.#base = base
  }

  text(raw: string): void {
    if (this.#skipping) return
    const text = decode(raw)
    if (this.#inTitle) this.#title ??= text.replace(/\s+/g, " ").trim()
    else if (this.#preformatted > 0) this.#out.push(text)
    else {
      const words = text.replace(/\s+/g, " ")
      this.#out.push(/\s$/.test(this.#out.at(-1) ?? "") ? words.trimStart() : words)
    }
  }

  start({ name, attributes }: { readonly name: string; readonly attributes: string }): void {
    if (this.#skipping) {
      if (name === this.#skipping.name) this.#skipping.depth++
      return
    }
    if (SKIPPED.has(name)) {
      const isEmpty = attributes.endsWith("/") && !RAW.has(name)
      if (!isEmpty) this.#skipping = { name, depth: 1 }
    } else if (name === "title") this.#inTitle = true
    else if (name === "br") this.#out.push("\n")
    else if (name === "hr") this.#out.push("\n\n---\n\n")
    else if (name === "img") this.#image(attributes)
    else if (name === "a") this.#startLink(attributes)
    else if (name === "td" || name === "th") this.#out.push(" | ")
    else if (name === "code" && this.#preformatted === 0) this.#out.push("`")
    else if (BLOCKS.has(name)) this.#startBlock(name)
  }

  end(name: string): void {
    if (this.#skipping) {
      if (name === this.#skipping.name && --this.#skipping.depth === 0) this.#skipping = undefined
    } else if (name === "title") this.#inTitle = false
    else if (name === "a") this.#endLink()
    else if (name === "code" && this.#preformatted === 0) this.#out.push("`")
    else if (BLOCKS.has(name)) this.#endBlock(name)
  }

  finish(): HtmlText {
    const text = this.#out
      .join("")
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n")
      .replace(/\n{3,}/g, "\n\n")
      .trim()
    return this.#title ? { title: this.#title, text } : { text }
  }

  #startBlock(name: string): void {
    if (name === "ul" || name === "ol") this.#lists.push({ ordered: name === "ol", items: 0 })
    else if (name === "li") this.#out.push(`\n${this.#bullet()}`)
    else if (name === "pre") {
      this.#preformatted++
      this.#out.push("\n\n```\n")
    } else if (/^h[1-6]$/.test(name)) this.#out.push(`\n\n${"#".repeat(Number(name[1]))} `)
    else this.#out.push(name === "tr" ? "\n" : "\n\n")
  }

  #endBlock(name: string): void {
    if (name === "ul" || name === "ol") this.#lists.pop()
    if (name === "pre" && this.#preformatted > 0) {
      this.#preformatted--
      this.#out.push("\n```")
    }
    if (name !== "li" && name !== "tr") this.#out.push("\n\n")
  }

  #bullet(): string {
    const list = this.#lists.at(-1)
    const indent = "  ".repeat(Math.min(Math.max(0, this.#lists.length - 1), 8))
    return list?.ordered ? `${indent}${++list.items}. ` : `${indent}- `
  }

  #image(attributes: string): void {
    const alt = attribute(attributes, "alt")
    if (alt) this.#out.push(`[image: ${alt}]`)
  }

  /** The target of a link to another page. `#top` and `javascript:` are useless to the model. */
  #href(attributes: string): string | undefined {
    const href = attribute(attributes, "href")
    if (!href || href.startsWith("#")) return undefined
    const url = URL.parse(href, this.#base?.href)
    return url && /^(?:https?|mailto):$/.test(url.protocol) ? url.href : undefined
  }

  /** Starts a link. Links do not nest: a new one ends the previous one. */
  #startLink(attributes: string): void {
    this.#endLink()
    this.#link = { href: this.#href(attributes), at: this.#out.length }
  }

  #endLink(): void {
    const link = this.#link
    this.#link = undefined
    if (!link?.href) return
    const label = this.#out.splice(link.at).join("")
    const words = label.replace(/\s+/g, " ").trim()
    if (words === "") this.#out.push(label)
    else this.#out.push(/^\s/.test(label) ? " " : "", `[${words}](${link.href})`, /\s$/.test(label) ? " " : "")
  }
}
