import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { parseRemoteAddress, remoteAddress } from "./git.ts"

async function addressOf(config: string): Promise<string | undefined> {
  const directory = await mkdtemp(join(tmpdir(), "strata-"))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  await writeFile(join(directory, "config"), config)
  return remoteAddress(directory)
}

test.each([
  "https://github.com/acme/shop",
  "https://github.com/acme/shop.git",
  "https://github.com/acme/shop.git/",
  "https://GitHub.com:443/acme/shop.git",
  "http://github.com:80/acme/shop",
  "https://ada:hunter2@github.com/acme/shop.git",
  "https://ghp_0123456789@github.com/acme/shop.git",
  "git@github.com:acme/shop.git",
  "github.com:acme/shop",
  "git@github.com:/acme/shop/",
  "[git@github.com:22]:acme/shop.git",
  "ssh://git@github.com/acme/shop.git",
  "ssh://git@GITHUB.com:22/acme//shop",
  "git+ssh://git@github.com/acme/shop",
  "git://github.com:9418/acme/shop.git",
])("BEY-12 %s is github.com/acme/shop", (url) => {
  expect(parseRemoteAddress(url)).toBe("github.com/acme/shop")
})

test("BEY-12 other hosts, ports and paths are other addresses", () => {
  const urls = [
    ...["https://github.com/acme/shop", "https://github.com/acme/Shop", "https://github.com/acme-shop"],
    ...["https://gitlab.com/acme/shop", "https://github.com:8443/acme/shop", "ssh://git@github.com:443/acme/shop"],
  ]
  expect(new Set(urls.map(parseRemoteAddress)).size).toBe(urls.length)
})

test.each([
  ...["/srv/git/shop.git", "../shop", "./shop", "shop", "file:///srv/shop.git", "C:\\git\\shop", "C:/git/shop"],
  ...[
    "ext::sh -c touch% /tmp/x",
    "ext::program",
    "codecommit::eu-west-1://shop",
    "",
    "https://",
    "https://github.com/",
  ],
  ...["http://127.0.0.1:39000/git/acme/shop", "http://localhost/acme/shop", "ssh://git@[::1]/acme/shop"],
])("BEY-12 %s names no other machine", (url) => {
  expect(parseRemoteAddress(url)).toBeUndefined()
})

test.each([
  ...["https://host.example/shop?private_token=hunter2", "https://host.example/shop#hunter2"],
  ...["https://ada:hun/ter2@host.example/shop", "https://hunter2/x@host.example/shop", "ada:hunter2@host.example:shop"],
])("SEC-1 of %s no part is used, because a secret may be in it", (url) => {
  expect(parseRemoteAddress(url)).toBeUndefined()
})

test("BEY-12 origin counts, else the first remote by name that leads elsewhere", async () => {
  const remote = (name: string, url: string) => `[remote "${name}"]\n\turl = ${url}\n\tfetch = +refs/heads/*\n`
  const [acme, fork] = ["git@github.com:acme/shop.git", "git@github.com:ada/shop.git"]
  expect(await addressOf(remote("a", fork) + remote("origin", acme))).toBe("github.com/acme/shop")
  expect(await addressOf(remote("origin", "/srv/shop.git") + remote("hub", acme))).toBe("github.com/acme/shop")
  expect(await addressOf(remote("z", acme) + remote("b", fork))).toBe("github.com/ada/shop")
  expect(await addressOf(remote("origin", "/srv/shop.git"))).toBeUndefined()
  expect(await addressOf("[core]\n\tbare = false\n")).toBeUndefined()
})

test("BEY-12 a config is read as git reads it, and what it includes is not", async () => {
  const config = [
    "# a comment",
    '[alias] url = "https://wrong.example/a/b"',
    '[include]\n\tpath = /etc/passwd\n[url "x"]\n\tinsteadOf = https://github.com/',
    '[Remote "origin"] ; more',
    '\tpushurl = https://wrong.example/c/d\n\tURL = "https://github.com/ac"me/shop.git # here',
    "\turl = https://wrong.example/second",
    '[branch "main"]\n\tremote = origin',
  ]
  expect(await addressOf(config.join("\n"))).toBe("github.com/acme/shop")
  expect(await addressOf('[remote "origin"]\n\turl = https://git\\\nhub.com/acme/shop\n')).toBe("github.com/acme/shop")
})
