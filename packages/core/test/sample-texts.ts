/** A text of each content class, written for tests and benchmarks. */
import { createHash } from "node:crypto"
import type { ContentClass } from "../src/tokens/content-class.ts"

const typescript = `import { readFile } from "node:fs/promises"

export interface Invoice {
  readonly id: string
  readonly lines: readonly InvoiceLine[]
  readonly paidAt?: Date
}

/** Sums the lines; a discount is subtracted before tax. */
export function totalOf(invoice: Invoice, taxRate = 0.19): number {
  const net = invoice.lines.reduce((sum, line) => sum + line.price * line.quantity, 0)
  const discounted = invoice.lines.some((line) => line.isReturned) ? net * 0.95 : net
  return Math.round(discounted * (1 + taxRate) * 100) / 100
}

export async function loadInvoices(path: string): Promise<Map<string, Invoice>> {
  const parsed: unknown = JSON.parse(await readFile(path, "utf8"))
  if (!Array.isArray(parsed)) throw new TypeError(\`\${path} holds no list of invoices\`)
  return new Map(parsed.filter(isInvoice).map((invoice) => [invoice.id, invoice]))
}
`

const prose = `The ferry left the harbour a little after six, when the last of the market stalls had been taken down and
the gulls were quarrelling over what remained. Most of the passengers stayed below, where it was warm, but an old man stood at
the rail and watched the lights of the town grow smaller. He had made this crossing every spring for forty years, he told
anyone who asked, and every spring the sea had been of a different mind. Some people found that unsettling. He thought it was
the only honest thing about travelling: you could plan the day, the hour and the company, and still know nothing of what the
water would be like. When the island came into sight he took off his hat, as he always did, and nobody asked him why.
`

const json = JSON.stringify(
  Array.from({ length: 8 }, (_, index) => ({
    orderId: 48_200 + index * 37,
    customer: { name: ["Ada Byron", "Alan Kay", "Grace Murray"][index % 3], country: "DE", verified: index % 2 === 0 },
    items: [{ sku: `LAMP-${index}`, quantity: index + 1, price: 19.9 + index }],
    status: index % 2 === 0 ? "shipped" : "pending",
    note: null,
  })),
)

const chinese = `傍晚六点刚过，渡船离开了港口。集市上的最后几个摊位已经收起，海鸥还在争抢剩下的鱼。大多数乘客待在温暖的船舱里，
只有一位老人站在栏杆旁，看着城里的灯光慢慢变小。他说，四十年来，每到春天他都会走这条路，而每一年的大海都不一样。
有人觉得这让人不安，他却认为这是旅行中唯一诚实的地方：你可以安排好日子、时间和同伴，却永远不知道海水会是什么样子。
`

const hashes = Array.from({ length: 24 }, (_, index) =>
  createHash("sha256").update(`text ${index}`).digest("hex"),
).join("\\n")

const names = [
  "accounts.ts",
  "accounts.test.ts",
  "README.md",
  "index.ts",
  "migrations",
  "package.json",
  "vite.config.ts",
]
const listing = ["core", "web", "worker"]
  .map((folder, at) =>
    [
      `./packages/${folder}:`,
      `total ${148 + at * 12}`,
      ...names.map((name, index) => {
        const size = String((index + 1) * 1_379 + at * 211).padStart(6)
        return `-rw-r--r-- 1 root root ${size} Nov ${10 + index} 0${index}:${31 + at * 7} ${name}`
      }),
      "",
    ].join("\\n"),
  )
  .join("\\n")

export const SAMPLE_TEXTS: Readonly<Record<ContentClass, string>> = {
  prose,
  code: typescript,
  json,
  script: chinese,
  dense: hashes,
  listing,
}
