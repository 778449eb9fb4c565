import { describe, expect, it, test } from "vitest"
import { hostOf, isSameServer, matchesUrl } from "./hosts.ts"

test.each([
  ["http://Evil.COM./x", "evil.com"],
  ["http://evil.com..:8080/", "evil.com"],
  ["http://good.com@evil.com/", "evil.com"],
  ["http://good.com\\@evil.com/", "good.com"],
  ["http://evil。com/", "evil.com"],
  ["https://bücher.example/", "xn--bcher-kva.example"],
  ["http://0x7f.1/", "127.0.0.1"],
  ["http://2130706433/", "127.0.0.1"],
  ["http://[::FFFF:127.0.0.1]/", "127.0.0.1"],
  ["http://[2001:DB8::1]:80/", "2001:db8::1"],
  ["not a url", undefined],
  ["mailto:a@b.c", undefined],
])("PERM-1: the host of %s is %s", (url, host) => expect(hostOf(url)).toBe(host))

describe("PERM-1: a rule's pattern", () => {
  const restricts = (pattern: string, url: string) => matchesUrl(url, { pattern, withSubdomains: true })
  const allows = (pattern: string, url: string) => matchesUrl(url, { pattern, withSubdomains: false })

  it.each([
    "http://evil.com/",
    "http://EVIL.com./",
    "https://www.evil.com:8443/x",
    "http://a.b.evil.com",
    "http://x@evil.com/",
  ])("domain:evil.com denies %s", (url) => expect(restricts("domain:evil.com", url)).toBe(true))

  it.each(["http://notevil.com/", "http://evil.com.example/", "http://evil.com@good.com/", "no url"])(
    "domain:evil.com has nothing to say of %s",
    (url) => expect(restricts("domain:evil.com", url)).toBe(false),
  )

  it("allows the host it names and no other; a wildcard allows what is below it", () => {
    expect(allows("domain:Example.com.", "https://example.com/a")).toBe(true)
    expect(allows("example.com", "https://user.example.com/")).toBe(false)
    expect(allows("domain:*.example.com", "https://a.b.example.com/")).toBe(true)
    expect(allows("domain:*.example.com", "https://example.com/")).toBe(false)
    expect(allows("domain:*", "https://anything.test/")).toBe(true)
    expect(allows("domain:bücher.example", "https://xn--bcher-kva.example/")).toBe(true)
  })

  it("may be an address of the network, in any form", () => {
    expect(restricts("domain:127.0.0.1", "http://0x7f.1/")).toBe(true)
    expect(restricts("domain:::1", "http://[0:0::1]/")).toBe(true)
    expect(restricts("domain:0.0.1", "http://127.0.0.1/")).toBe(false)
  })

  it("may be a URL, whole or with a star at its end", () => {
    expect(restricts("https://example.com/docs", "https://EXAMPLE.com./docs#part")).toBe(true)
    expect(restricts("https://example.com/docs", "https://example.com/docs/more")).toBe(false)
    expect(allows("https://example.com/docs/*", "https://example.com/docs/more?x=1")).toBe(true)
    expect(allows("https://example.com/docs/*", "https://example.com/docs/../secret")).toBe(false)
    expect(allows("https://example.com/*", "https://example.com.evil.test/")).toBe(false)
  })
})

test.each([
  ["http://a.test/x", "https://a.test/y", true],
  ["https://a.test/", "https://www.a.test/", true],
  ["https://a.test/", "https://A.test./", true],
  ["https://a.test/", "http://a.test/", false],
  ["https://a.test/", "https://a.test:8443/", false],
  ["https://a.test/", "https://b.a.test/", false],
])("a redirect from %s to %s stays on its server: %s", (from, to, is) =>
  expect(isSameServer(new URL(from), new URL(to))).toBe(is),
)
