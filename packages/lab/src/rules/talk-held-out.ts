/** No rule was written from these sentences. They were written before the rules for preferences and facts, and are only measured. */
import type { Talk } from "./talk.ts"

export const TALK_HELD_OUT: Talk = {
  preferences: {
    en: `
      I prefer window seats on long flights.
      I prefer hand-written notes to typed ones when I study.
      I'm planning a kitchen, and ~I prefer open shelves to closed cupboards|, can you suggest a layout?
      ~I prefer paying bills by standing order rather than by hand|, how do I set that up at a new bank?
      ~I prefer ceramic knives over steel ones|, what should I look for in a shop?
      I'm kinda lost with all the gyms around here, but ~I prefer small studios with few machines|, so can you help me choose?
      ~I prefer to review contracts on paper|, can you turn the draft into a version that prints well?
      My week is full, so ~I prefer meetings before ten|, could you draft a mail that says so?
      ~I'd rather walk than take the bus for anything under three kilometres|, which hotels are close to the fair?
      I'd rather pay a little more for something that can be repaired.
      I'd rather not share my phone number with shops.
      I would rather have three long holidays than many short ones.
      ~I'd much rather cook at home than order in|, do you have ideas for the weekend?
      No emojis please.
      no exclamation marks please
      Short answers, please.
      Bullet points please, no long paragraphs.
      Metric units, please.
      Plain text only, please.
      no jargon pls
      Please, no small talk.
      No apologies, please.
      British spelling please.
      Formal tone, please.
      I like my coffee without sugar.
      I don't like horror films.
      I hate early flights.
      I can't stand open-plan offices.
      I love mountain villages more than beaches.
      I really dislike podcasts with adverts.
      I'm not a fan of touch screens in cars.
      I'm a big fan of board games with few rules.
      I tend to favour local suppliers over big chains.
      I usually go for paperbacks instead of hardcovers.
      I always choose the train over the plane inside Europe.
      ~I prefer postgres to mysql for anything with money in it|, can you write the schema for the ledger?
      ~I prefer feature branches that live for a day at most|, how would I split the work on the importer?
      ~I prefer libraries without native code|, which one reads parquet files?
      We're redoing the site and ~I prefer plain CSS over utility classes|, could you convert the header below?
      ~I prefer types that are written out rather than inferred in public functions|. Can you change the file below?
      When I travel for work, I prefer hotels near a station.
      For presents, I prefer things that people can eat.
      My preference is for matte paper.
      My preferred airline is Nordair.
      My favourite colour is dark green.
      My go-to editor is Helix.
      Given the choice, I prefer aisle over window at the theatre.
      I prefer fiction by women writers these days, and I like it translated well.
      ~I prefer early dinners, around six|, which places in Ghent serve then?
      ~I prefer a hands-on course with exercises to lectures|, what do you think about the one from Delft?
      As a parent of twins, I prefer holiday flats to hotels.
      I prefer natural fabrics like linen and wool.
      I prefer to pay cash.
      I prefer working with people who say what they think.
    `,
    de: `
      Ich bevorzuge Fensterplätze im Zug.
      ~Ich arbeite lieber morgens als abends|, kannst du mir einen Plan machen?
      Ich mag keine langen Einleitungen.
      Ich hätte lieber wenige gute Werkzeuge als viele billige.
      Keine Emojis bitte.
      Kurze Antworten, bitte.
      Mir sind kleine Hotels lieber als große Ketten.
      Am liebsten reise ich mit dem Nachtzug.
    `,
    fr: `
      Je préfère les places côté couloir.
      ~Je préfère travailler le matin|, peux-tu me faire un planning ?
      Pas d'emojis s'il te plaît.
      Des réponses courtes, s'il vous plaît.
      J'aime mieux le train que l'avion.
      Je n'aime pas les films d'horreur.
      Je préférerais toujours une petite auberge à un grand hôtel.
    `,
    es: `
      Prefiero los asientos de pasillo.
      ~Prefiero trabajar por la mañana|, ¿puedes hacerme un plan?
      Sin emojis, por favor.
      Respuestas cortas, por favor.
      Me gusta más el tren que el avión.
      No me gustan las películas de terror.
    `,
    ru: `
      Я предпочитаю места у окна.
      Мне больше нравится поезд, чем самолёт.
      Без эмодзи, пожалуйста.
      Короткие ответы, пожалуйста.
      Я не люблю фильмы ужасов.
    `,
    zh: `
      我更喜欢靠窗的座位。
      我比较喜欢坐火车,不太喜欢坐飞机。
      请不要用表情符号。
      请简短回答。
      我不喜欢恐怖片。
    `,
  },
  facts: {
    en: `
      I'm vegan.
      I'm lactose intolerant.
      I'm left-handed.
      I'm a paediatric nurse from Malmö.
      I'm 52 years old.
      I'm married with two daughters.
      I'm Brazilian.
      I'm Tomasz, a joiner with a small workshop in Gdynia.
      I am allergic to penicillin.
      I'm the treasurer of our rowing club.
      I work as a surveyor.
      I work for a shipping company in Bergen.
      I work on the billing team at Nordwind.
      I live in a village near Tartu with my wife.
      I speak Finnish and a little Sami.
      I was born in Lagos.
      I grew up on a farm.
      I own a small bakery.
      I run a two-person design studio.
      I teach chemistry at a secondary school.
      I have two kids, five and eight.
      I have a background in geology.
      I have ADHD.
      I don't eat pork.
      I don't drive.
      I moved to Antwerp last spring.
      My name is Ifeoma.
      My daughter is called Liv.
      My pronouns are they/them.
      My employer is Harbour Logistics.
      ~I'm a retired bus driver|, can you explain how pensions are taxed?
      ~I live in Utrecht and work in Rotterdam|, which season ticket is cheapest?
      I've been a volunteer firefighter for ten years.
      My wife is a midwife.
    `,
    de: `
      Ich bin Vegetarierin.
      Ich wohne in Graz.
      Ich arbeite als Hebamme.
      Ich habe zwei Kinder.
      Mein Name ist Jasper.
    `,
    fr: `
      Je suis végétarienne.
      J'habite à Nantes.
      Je travaille comme sage-femme.
      J'ai deux enfants.
      Je m'appelle Solène.
    `,
    es: `
      Soy vegetariana.
      Vivo en Girona.
      Trabajo como enfermero.
      Tengo dos hijos.
      Me llamo Iker.
    `,
    ru: `
      Я вегетарианка.
      Я живу в Казани.
      Я работаю медсестрой.
      Меня зовут Тимур.
    `,
    zh: `
      我是护士。
      我住在成都。
      我叫李雷。
    `,
  },
  passing: {
    en: `
      I'm a bit stuck.
      I'm a little confused about the second step.
      I'm stuck on the migration.
      I'm not sure which one to take.
      I'm a tad overwhelmed by all the options.
      I'm an hour late already.
      I'm on the train right now.
      I'm in the middle of the upgrade.
      I'm the one who broke the build.
      I'm from the other meeting, so give me a second.
      I'm at a loss here.
      I'm out of ideas.
      I'm wondering whether the index is used.
      I'm trying to prove the second lemma.
      I'm working on the summary.
      I'm new here, what is this page for?
      I'm done with the first part.
      I'm afraid the test still fails.
      I'm glad that it works now.
      I'm curious how the tide tables are made.
      I'm on the latest version.
      I'm getting a 502 from the proxy.
      I'm almost there, just one more thing.
      I'm looking for a plumber.
      I know the formula is base times height over two, but I don't see why.
      I know that the cache is cold at first.
      I know I should write tests.
      I know how loops work.
      I know you said so, but it fails.
      I know this is a silly question.
      I know there must be a better way.
      I have a question about the invoice.
      I have an error in line 12.
      I have a meeting in ten minutes.
      I have a list of numbers and need the median.
      I have two variables, x and y.
      I work on the second exercise now.
      I work with the table below.
      I was wrong about the port.
      I think the answer is 12.
      I guess the pump is broken.
      I feel like we are going in circles.
      I need to finish the slides tonight.
      I'd rather use the first draft.
      I'd rather take the earlier train tomorrow.
      I prefer the second version.
      I prefer this one.
      I prefer option B for the cover.
      I prefer the shorter title you gave.
      I prefer yours.
      Which one do you prefer?
      I would prefer a table for this comparison.
      I like the second paragraph better.
      I like it.
      I love this!
      I don't like the third line.
      I don't like how the last verse ends.
      I love how it turned out, thanks!
      I hate this bug.
      Another example please.
      The second one, please.
      A table for these numbers, please.
      More details, please.
      Two more options please.
      Next question please.
      The full code please.
      One more time please, slower.
      My mother prefers tea.
      My test is red.
      My name is in the wrong field of the form.
      My team is waiting for the release.
      My job is failing with exit code 137.
      My daughter is sick today.
      My company is down right now.
      He is a nurse.
      Imagine I'm a pirate.
      My cat is asleep on the keyboard.
    `,
    de: `
      Ich bin ein bisschen verwirrt.
      Ich bin gerade im Zug.
      Ich bin mir nicht sicher.
      Ich bin fast fertig.
      Ich weiß, dass die Formel stimmt, aber warum?
      Ich nehme lieber die zweite Variante.
      Die zweite, bitte.
      Noch ein Beispiel bitte.
    `,
    fr: `
      Je suis un peu perdu.
      Je suis en train de lire le chapitre.
      Je suis bloquée sur la deuxième étape.
      Je sais que la formule est juste.
      Je préfère la deuxième version.
      Encore un exemple s'il te plaît.
    `,
    es: `
      Estoy un poco perdido.
      Soy consciente del problema.
      Sé que la fórmula es correcta.
      Prefiero la segunda versión.
      Otro ejemplo, por favor.
    `,
    ru: `
      Я немного запутался.
      Я не уверен.
      Я знаю, что формула верна.
      Ещё один пример, пожалуйста.
    `,
    zh: `
      我是说第二行。
      我有点困惑。
      我知道公式是对的。
      请再举一个例子。
    `,
  },
  places: `
    The deployment runbook is at https://wiki.nordwind.test/ops/runbook.
    Our design system lives at https://design.nordwind.test.
    You can find the house rules under https://intranet.nordwind.test/house-rules.
    All invoices are kept in https://drive.nordwind.test/invoices.
    The board for the move is https://boards.nordwind.test/b/42.
    Team calendar: https://cal.nordwind.test/team
    The minutes of the club are here: https://rowing.test/minutes
    Grafana is at https://grafana.nordwind.test/d/latency.
    Die Betriebsanleitung liegt unter https://wiki.nordwind.test/betrieb.
    Le manuel se trouve sur https://wiki.nordwind.test/manuel.
    El manual está en https://wiki.nordwind.test/es.
    Инструкция лежит на https://wiki.nordwind.test/ru.
    手册在 https://wiki.nordwind.test/zh。
  `,
  pasted: [
    `My fetch fails, can you look?\n\`\`\`js\nconst response = await fetch("https://api.tides.test/v2/stations?limit=5")\n// docs are at https://api.tides.test/docs\n\`\`\``,
    `Here's my code:\nimport requests\nBASE = "https://api.tides.test/v2"\nr = requests.get(BASE + "/stations", headers={"Accept": "application/json"})\nprint(r.json())\nI know the endpoint is right, but I get a 403.`,
    `I get this:\nTraceback (most recent call last):\n  File "/srv/app/main.py", line 12, in <module>\n    r = requests.get("https://api.tides.test/v2/stations")\nrequests.exceptions.HTTPError: 403 Client Error: Forbidden for url: https://api.tides.test/v2/stations`,
    `npm ERR! code E404\nnpm ERR! 404 Not Found - GET https://registry.npmjs.test/left-pads - Not found\nnpm ERR! 404 You must always sign in first. See https://docs.npmjs.test/e404`,
    `I'm a bit stuck. curl -s https://api.tides.test/v2/stations | jq . prints nothing`,
    `<html>\n<head>\n<link rel="stylesheet" href="https://cdn.tides.test/styles/main.css">\n<script src="https://cdn.tides.test/app.js"></script>\n</head>\nHow do I load the script later?`,
    `I use axios.get(\`https://api.tides.test/v2/\${station}\`) and it is undefined. Why?`,
    `Can you summarise https://news.tides.test/2024/storm for me?`,
    `I found this on https://forum.tides.test/t/99 but it did not help.`,
    `I'm running the dev server and http://localhost:5173/admin shows a blank page.`,
    `According to https://docs.tides.test/limits there is a limit of 60 calls per minute, how do I stay under it?`,
    `services:\n  proxy:\n    image: tides/proxy:1.4\n    environment:\n      UPSTREAM: https://api.tides.test/v2\n      DOCS: https://docs.tides.test\nWhy does the proxy not start?`,
    `app.use(cors({ origin: "https://app.tides.test" }))\napp.listen(3000)\nI know that CORS is the problem, I'm just not sure where.`,
    `The log of the job says:\n2024-05-02 11:04:12 WARN retry 3 of https://hooks.tides.test/in failed\n2024-05-02 11:04:19 ERROR never retry on 401: https://hooks.tides.test/in\nWhat does it mean?`,
    `git clone https://git.tides.test/core/importer.git gives me "remote: Repository not found."`,
    `Please check whether https://status.tides.test is green.`,
    `My form posts to https://forms.tides.test/submit?id=12 and then nothing happens.`,
    `In my README I wrote: [docs](https://docs.tides.test/start). Does the link look right?`,
  ],
}
