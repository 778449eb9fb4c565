import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { expectLinearWork } from "../../../../test/growth.ts"
import { size } from "../../../../test/size.ts"
import { htmlToText } from "./html-to-text.ts"

const base = new URL("https://example.com/docs/page.html")
const text = (html: string) => htmlToText(html, base).text

describe("HTML as text", () => {
  it("keeps what a person would read, as markdown", () => {
    const html = `<!doctype html><html><head><title>The &amp; title</title><style>p { color: red }</style>
      <script>if (1 < 2) { document.write("<p>no</p>") }</script></head>
      <body><nav><a href="/">Home</a></nav><h1>Heading</h1>
      <p>Some <b>bold</b>
         text &mdash; with a <a href="../x?a=1&amp;b=2">link</a>, <a href="#top">none</a> and <code>code</code>.</p>
      <ul><li>one</li><li>two<ol><li>deep</li></ol></li></ul>
      <pre>  kept
    as it is</pre><table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>
      <img src="x.png" alt="A cat"><img src="y.png"><svg><text>no</text></svg></body></html>`
    expect(htmlToText(html, base)).toEqual({
      title: "The & title",
      text: [
        "[Home](https://example.com/)",
        "",
        "# Heading",
        "",
        "Some bold text — with a [link](https://example.com/x?a=1&b=2), none and `code`.",
        "",
        "- one",
        "- two",
        "  1. deep",
        "",
        "```",
        "  kept",
        "    as it is",
        "```",
        "",
        " | a | b",
        " | c | d",
        "",
        "[image: A cat]",
      ].join("\n"),
    })
  })

  it("leaves out scripts however they are written", () => {
    for (const script of [
      "<script>x</script>",
      "<SCRIPT type='a>b'>x</ScRiPt >",
      "<script src=y />x</script>",
      "<script>x",
    ]) {
      expect(text(`before ${script}`)).toBe("before")
    }
    expect(text("<script>a</scripty>b</script>after")).toBe("after")
    expect(text("<!-- <p>x -->after <!-- open")).toBe("after")
  })

  it("decodes entities, and leaves other text alone", () => {
    expect(text("&lt;b&gt; &#65;&#x42; &nosuch; &amp;lt; a&b &#0; &#xD800; &#99999999;")).toBe(
      "<b> AB &nosuch; &lt; a&b � � �",
    )
  })

  it("takes text for text and tags for tags, as browsers do", () => {
    expect(text("1 < 2 <3 a<b>c</b>")).toBe("1 < 2 <3 ac")
    expect(text(`<p title="a > b">x</p><a href='j>k'>y</a>`)).toBe("x\n\n[y](https://example.com/docs/j%3Ek)")
    expect(text("İ<title>t</title>x")).toBe("İx")
    expect(text(`<a href="javascript:alert(1)">x</a> <a href="/a">one <a href="/b">two</a>`)).toBe(
      "x [one](https://example.com/a) [two](https://example.com/b)",
    )
  })

  it("never fails, and never shows what is in a script", () => {
    const words = fc.string().map((given) => given.replace(/[<>'"]/g, ""))
    const tag = fc.constantFrom(
      "<a href='x'>",
      "</a>",
      "<pre>",
      "</pre>",
      "<li>",
      "<ol>",
      "</ol>",
      "<td>",
      "<h2>",
      "<code>",
      "<",
      "&",
    )
    const script = fc.constantFrom("<script>SECRET</script>", "<style x='>'>SECRET</style>", "<svg><b>SECRET</b></svg>")
    fc.assert(
      fc.property(fc.array(fc.oneof(words, tag, script)), (pieces) => {
        expect(htmlToText(pieces.join(" ")).text).not.toContain("SECRET")
      }),
    )
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (page) => htmlToText(`<${page}`).text.length <= 20 * page.length + 20),
    )
  })

  it.each([
    ["open tags", "<a href=x>"],
    ["quotes", '<a "'],
    ["blanks", "<b> </b>"],
    ["lists", "<ul><li>"],
    ["open comments", "<!-- "],
    ["entities", "&#"],
    ["blanks in code", "<pre>          "],
    ["open scripts", "<script><style>"],
    ["angle brackets", "<<<<"],
  ])("takes time linear in the length: %s", (_, piece) => {
    expectLinearWork(piece, { length: size(50_000, 200_000), work: (page) => htmlToText(page, base) })
  })
})
