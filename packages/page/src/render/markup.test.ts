import { describe, expect, it } from "vitest"
import { escapeHtml, html, pathPoints } from "./markup.ts"

describe("BEY-7 text in a page", () => {
  it.each([
    ["<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"],
    [`" onload="x' y`, "&quot; onload=&quot;x&#39; y"],
    ["a\u202egnp.exe", "a&lt;U+202E&gt;gnp.exe"],
    ["one\ntwo\u0000", "one two␀"],
    ["</title><img src=x>", "&lt;/title&gt;&lt;img src=x&gt;"],
    ["&amp;", "&amp;amp;"],
  ])("%j becomes harmless", (text, shown) => {
    expect(html`<p title="${text}">${[text]}</p>`.toString()).toBe(`<p title="${shown}">${shown}</p>`)
  })

  it("is cut, however long it is", () => {
    expect(escapeHtml("<".repeat(10_000_000)).length).toBeLessThan(2_000)
  })

  it("keeps what a template made, and paths of any length", () => {
    const path = pathPoints(Array.from({ length: 500 }, (_, i) => [i, 2 * i] as const))
    const source = html`<b>${html`<i>${1}</i>`}</b>${undefined}<path d="M${path}"/>`.toString()
    expect(source).toMatch(/^<b><i>1<\/i><\/b><path d="M0 0L1 2L.*L499 998"\/>$/)
  })
})
