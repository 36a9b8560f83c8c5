/* Plays the scenes of a page: what moves between places, step by step or in slow motion.
 *
 * A scene is data (sim/report/scene.c): places, lines, moves, stays, steps and gauges, all with their times in
 * picoseconds. What is shown at a time follows from the data alone, so that going back is as easy as going on.
 * Nothing plays by itself. Where people ask for less motion, playing goes from step to step. */
"use strict";
(() => {
  const LETTERS = 11, TOKEN = 9, GPU_HIGH = 58, HUB_HIGH = 74;
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");

  const make = (tag, attributes, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {}))
      element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const nanoseconds = ps => (ps / 1000).toFixed(1);
  /* The last of the list's entries whose time is at or before `at`; -1: none. */
  const last_by = (list, time, at) => {
    let low = -1, high = list.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (time(list[middle]) <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  };

  class Scene {
    constructor(section, number) {
      const data = JSON.parse(section.querySelector("script").textContent);
      this.section = section;
      this.svg = section.querySelector("svg.stage");
      this.places = data.places.map(([name, level, slots]) => ({name, level, slots}));
      this.lines = data.lines.map(([name, from, to]) => ({name, from, to}));
      this.wires = data.wires;
      this.kinds = data.kinds.map(([sign, name, role]) => ({sign, name, role}));
      this.moves = data.moves.map(([line, kind, size, at, serial, flight]) => ({line, kind, size, at, serial, flight}));
      this.stays = data.stays.map(([place, slot, kind, from, to]) => ({place, slot, kind, from, to}));
      this.steps = data.steps.map(([at, depth, where, text, file]) => ({at, depth, where, text, file}));
      this.gauges = data.gauges.map(([where, name, unit, most, first, changes]) => ({where, name, unit, most, first, changes}));
      this.end = Math.max(...this.steps.map(s => s.at), ...this.moves.map(m => m.at + m.serial + m.flight),
                          ...this.stays.map(s => s.to));
      this.at = 0;
      this.step = 0;
      this.playing = false;
      this.build(number);
      new ResizeObserver(() => this.lay_out()).observe(this.frame);
      this.lay_out();
    }

    /* ---- what stands around the picture */

    build(number) {
      const button = (name, text, hint, action) => {
        const element = make("button", {type: "button", "data-do": name, title: hint}, text);
        element.addEventListener("click", action);
        return element;
      };
      this.play_button = button("play", "\u25b6 Play", "Space", () => this.toggle());
      this.speed = make("select", {"data-do": "speed", id: `speed${number}`});
      this.fill_speeds();
      this.slider = make("input", {type: "range", min: 0, max: this.end, step: 1, value: 0, "data-do": "time",
                                   "aria-label": "Time"});
      this.slider.addEventListener("input", () => { this.pause(); this.show(+this.slider.value); });
      this.clock = make("output", {class: "clock"});
      this.said = make("p", {class: "said", "aria-live": "polite"});
      const controls = make("div", {class: "controls", role: "group", "aria-label": "Playing"},
        button("first", "|\u25c0 Start", "Home", () => this.go(0)),
        button("back", "\u25c0 Step back", "Arrow left", () => this.go(this.step - 1)),
        this.play_button,
        button("step", "Step \u25b6", "Arrow right", () => this.go(this.step + 1)),
        button("last", "End \u25b6|", "End", () => this.go(this.steps.length - 1)),
        make("label", {for: `speed${number}`}, "Speed "), this.speed, this.clock);
      this.frame = make("div", {class: "frame"});
      this.list = make("ol", {class: "steps"});
      this.buttons = this.steps.map((step, i) => {
        const element = make("button", {type: "button", "data-step": i, style: `--depth:${step.depth}`},
          make("b", {}, nanoseconds(step.at)), make("span", {class: "where"}, step.where),
          make("span", {class: "text"}, step.text));
        element.addEventListener("click", () => this.go(i));
        this.list.append(make("li", {}, element));
        return element;
      });
      const legend = make("ul", {class: "legend", "aria-label": "Packets"}, ...this.kinds.map(kind =>
        make("li", {}, make("span", {class: `token role${kind.role}`, "aria-hidden": "true"}, kind.sign), " " + kind.name)));
      this.svg.replaceWith(this.frame);
      this.frame.append(this.svg);
      const stage = make("div", {class: "stagebox"}, controls, this.slider, this.frame, this.said, legend);
      const steps = make("div", {class: "stepbox"}, make("h3", {}, "Steps: jump to any of them"), this.list);
      this.section.querySelector("h2").after(make("div", {class: "split"}, stage, steps),
        ...this.build_gauges(), make("p", {class: "hint"}, "Keys: space plays and pauses, arrow left and right step, " +
        "Home and End go to the first and last step. A bar on a line is a packet: its head left the port first, its " +
        "tail when the last flit did."));
      this.section.addEventListener("keydown", event => this.on_key(event));
    }

    /* Speeds with round numbers, by which the whole takes from some seconds to some minutes. */
    fill_speeds() {
      const names = ["fast", "normal", "slow", "very slow"];
      [6, 15, 45, 150].forEach((seconds, i) => {
        const rough = this.end / seconds, power = 10 ** Math.floor(Math.log10(rough));
        const speed = power * [1, 2, 5, 10].find(n => n * power >= rough * 0.999);
        const text = speed >= 1e6 ? `${speed / 1e6} \u00b5s` : `${speed / 1000} ns`;
        this.speed.append(make("option", {value: speed, ...(i === 1 ? {selected: ""} : {})}, `${names[i]}: ${text} a second`));
      });
    }

    /* A table for ports and one for switches: a row each, a column for each of their numbers. */
    build_gauges() {
      const rows = new Map(), tables = new Map();
      for (const gauge of this.gauges)
        rows.set(gauge.where, [...(rows.get(gauge.where) || []), gauge]);
      for (const [where, gauges] of [...rows].sort(([a], [b]) => a.localeCompare(b, "en", {numeric: true}))) {
        const head = gauges.map(g => `${g.name}|${g.unit}`).join(";");
        if (!tables.has(head)) {
          const row = make("tr", {}, make("th", {scope: "col", class: "t"}, "where"), ...gauges.map(g =>
            make("th", {scope: "col"}, g.name, make("small", {}, g.unit))));
          tables.set(head, make("table", {}, make("thead", {}, row), make("tbody")));
        }
        const row = make("tr", {}, make("th", {scope: "row", class: "t"}, where));
        for (const gauge of gauges) {
          gauge.cell = make("td", {class: gauge.most ? "gauge" : ""});
          row.append(gauge.cell);
        }
        tables.get(head).lastChild.append(row);
      }
      return [...tables].map(([head, table]) => make("div", {class: "scroll gauges", tabindex: 0, role: "region",
        "aria-label": `At this time: ${head.split(";").map(part => part.split("|")[0]).join(", ")}`}, table));
    }

    /* ---- the picture: places in rows, highest level on top */

    draw(tag, attributes, text) {
      const element = document.createElementNS(this.svg.namespaceURI, tag);
      for (const [name, value] of Object.entries(attributes))
        element.setAttribute(name, value);
      if (text !== undefined) element.textContent = text;
      this.svg.append(element);
      return element;
    }

    lay_out() {
      const wide = Math.max(300, Math.floor(this.frame.clientWidth));
      if (wide === this.wide) return;
      this.wide = wide;
      this.places.forEach(place => { place.used = false; });
      for (const line of this.lines)
        this.places[line.from].used = this.places[line.to].used = true;
      const by_number = (a, b) => a.name.localeCompare(b.name, "en", {numeric: true});
      const levels = [...new Set(this.places.map(p => p.level))].sort((a, b) => b - a);
      let top = 6;
      for (const level of levels) {
        const row = this.places.filter(p => p.level === level).sort(by_number);
        top = this.lay_out_level(row, level, top) + (level ? (wide > 700 ? 150 : 110) : 0);
      }
      this.svg.setAttribute("viewBox", `0 0 ${wide} ${top + 6}`);
      this.svg.setAttribute("width", wide);
      this.svg.setAttribute("height", top + 6);
      this.draw_still();
      this.show(this.at, this.step);
      this.reveal();
    }

    lay_out_level(places, level, top) {
      const gap = 8, usual = level || places.length <= 16 ? (this.wide < 420 ? 76 : 84) : 46;
      const room = this.wide - 4 + gap; /* the outlines of the first and the last box are inside */
      const share = Math.floor(room / places.length) - gap; /* narrower boxes rather than a second row */
      const small = !level && share < usual && share >= 62 ? share : usual;
      const beside = this.wide - (places.length - 1) * (small + gap); /* what idle switches leave to the busy one */
      const fits = beside >= 250 && places.filter(p => p.used).length === 1;
      const crowd = this.places.length > 24 ? 0.9 * this.wide : fits ? Math.min(330, beside) : 330;
      const want = place => level && place.used ? Math.min(crowd, this.wide - 4) : small;
      const most = Math.floor(room / (small + gap));
      const in_row = Math.ceil(places.length / Math.ceil(places.length / most)); /* rows alike, and none of one box */
      const grow = level ? 1 : Math.min(1.5, (room / in_row - gap) / small);
      let row = [], used = 0;
      const finish = () => {
        let left = (this.wide - row.reduce((sum, p) => sum + want(p) * grow + gap, -gap)) / 2;
        for (const place of row) {
          place.width = want(place) * grow;
          place.high = level ? HUB_HIGH : GPU_HIGH;
          place.left = left;
          place.top = top;
          left += place.width + gap;
        }
        top += (level ? HUB_HIGH : GPU_HIGH) + 14;
        row = [];
        used = 0;
      };
      for (const place of places) {
        if (row.length && (level ? used + want(place) > this.wide : row.length === in_row)) finish();
        row.push(place);
        used += want(place) + gap;
      }
      if (row.length) finish();
      return top - 14;
    }

    /* Where a line meets a place: as near to the other end as the box allows. */
    ends(from, to, shift) {
      const end = (a, b) => {
        const middle = b.left + b.width / 2;
        const x = a.level ? Math.min(Math.max(middle, a.left + 14), a.left + a.width - 14) : a.left + a.width / 2;
        return [x + shift, a.level > b.level ? a.top + a.high : a.top];
      };
      return [...end(from, to), ...end(to, from)];
    }

    draw_still() {
      this.svg.replaceChildren();
      const wire = (from, to, shift, style) => {
        const [x1, y1, x2, y2] = this.ends(from, to, shift);
        return this.draw("line", {x1, y1, x2, y2, class: style});
      };
      for (const [from, to] of this.wires)
        wire(this.places[from], this.places[to], 0, "wire");
      const beside = new Map();
      for (const line of this.lines) {
        const pair = [line.from, line.to].sort().join();
        const n = beside.get(pair) || 0;
        beside.set(pair, n + 1);
        line.shift = (n % 2 ? 1 : -1) * (5 + 7 * (n >> 1));
        line.drawn = wire(this.places[line.from], this.places[line.to], line.shift, "line");
      }
      for (const place of this.places) {
        place.box = this.draw("rect", {x: place.left, y: place.top, width: place.width, height: place.high, rx: 6,
                                       class: place.used ? "place" : "place idle"});
        this.draw("text", {x: place.left + 8, y: place.top + 15, class: "name"},
                  place.width < 60 ? place.name.replace(/^\D+/, "") : place.name);
        place.columns = place.width >= 250;
        if (place.columns)
          place.slots.forEach((slot, i) => this.draw("text", {x: place.left + (i + 0.5) * place.width / place.slots.length,
            y: place.top + place.high - 12, "text-anchor": "middle", class: "slot"}, slot)); /* packets leave below it */
      }
      this.still = this.svg.childNodes.length;
    }

    token(kind, x, y) {
      this.draw("circle", {cx: x, cy: y, r: TOKEN, class: `token role${kind.role}`});
      this.draw("text", {x, y: y + 4, "text-anchor": "middle", class: "sign"}, kind.sign);
    }

    draw_move(move) {
      const line = this.lines[move.line], kind = this.kinds[move.kind];
      const [x1, y1, x2, y2] = this.ends(this.places[line.from], this.places[line.to], line.shift);
      const along = part => [x1 + (x2 - x1) * part, y1 + (y2 - y1) * part];
      const head = Math.min(1, (this.at - move.at) / (move.flight || 1));
      const tail = Math.max(0, (this.at - move.at - move.serial) / (move.flight || 1));
      const [hx, hy] = along(head), [tx, ty] = along(Math.min(tail, head));
      this.draw("line", {x1: tx, y1: ty, x2: hx, y2: hy, class: `bar role${kind.role}`});
      this.token(kind, hx, hy);
      line.drawn.classList.add("busy");
    }

    /* What stays in a place: tokens side by side, in its slot's column if there is room for columns. */
    draw_stays(place, stays) {
      const high = place.top + 34, slots = [...new Set(stays.map(s => s.slot))].sort();
      const step = (count, room) => Math.min(2 * TOKEN + 2, (room - 2 * TOKEN) / Math.max(1, count - 1));
      if (place.columns) {
        const room = place.width / place.slots.length;
        for (const slot of slots) {
          const here = stays.filter(s => s.slot === slot), by = step(here.length, room - 8);
          const left = place.left + (slot + 0.5) * room - by * (here.length - 1) / 2;
          here.forEach((stay, i) => this.token(this.kinds[stay.kind], left + by * i, high));
        }
        return;
      }
      const by = step(stays.length, place.width - 8), left = place.left + place.width / 2 - by * (stays.length - 1) / 2;
      stays.forEach((stay, i) => this.token(this.kinds[stay.kind], left + by * i, high));
      if (place.width >= 60)
        this.draw("text", {x: place.left + place.width / 2, y: place.top + place.high - 4, "text-anchor": "middle",
                           class: "slot"}, slots.map(s => place.slots[s]).join(", "));
    }

    /* ---- a time of the scene */

    show(at, step) {
      this.at = Math.min(Math.max(at, 0), this.end);
      this.step = step !== undefined ? step : Math.max(0, last_by(this.steps, s => s.at, this.at));
      while (this.svg.childNodes.length > this.still)
        this.svg.lastChild.remove();
      this.lines.forEach(line => line.drawn.classList.remove("busy"));
      const stays = new Map();
      for (const stay of this.stays)
        if (stay.from <= this.at && this.at < stay.to)
          stays.set(stay.place, [...(stays.get(stay.place) || []), stay]);
      this.places.forEach((place, i) => {
        place.box.classList.toggle("busy", stays.has(i));
        if (stays.has(i)) this.draw_stays(place, stays.get(i));
      });
      for (const move of this.moves)
        if (move.at <= this.at && this.at < move.at + move.serial + move.flight)
          this.draw_move(move);
      this.show_step();
      this.show_gauges();
    }

    show_step() {
      const step = this.steps[this.step];
      const time = `${nanoseconds(this.at)} ns`;
      this.clock.value = `${time} of ${nanoseconds(this.end)} ns`;
      this.slider.value = this.at;
      this.slider.setAttribute("aria-valuetext", time);
      if (this.shown === this.step) return;
      if (this.shown !== undefined) this.buttons[this.shown].removeAttribute("aria-current");
      this.shown = this.step;
      this.buttons[this.step].setAttribute("aria-current", "step");
      this.reveal();
      this.said.replaceChildren(make("b", {}, `${nanoseconds(step.at)} ns, ${step.where}: `), step.text,
                                make("span", {class: "file"}, ` (${step.file})`));
    }

    /* The step that is shown is in sight in the list. */
    reveal() {
      const button = this.buttons[this.step], box = this.list, top = button.offsetTop - box.offsetTop;
      if (top < box.scrollTop || top + button.offsetHeight > box.scrollTop + box.clientHeight)
        box.scrollTop = top - box.clientHeight / 3;
    }

    gauge_at(gauge, at) {
      let value = gauge.first;
      for (let i = 0; i < gauge.changes.length && gauge.changes[i] <= at; i += 2)
        value = gauge.changes[i + 1];
      return value;
    }

    /* Bold: changed since the step before. */
    show_gauges() {
      const before = this.steps.filter(s => s.at < this.at).map(s => s.at).pop();
      for (const gauge of this.gauges) {
        const value = this.gauge_at(gauge, this.at);
        gauge.cell.textContent = value;
        gauge.cell.classList.toggle("changed", before !== undefined && value !== this.gauge_at(gauge, before));
        if (gauge.most) gauge.cell.style.setProperty("--part", `${100 * value / gauge.most}%`);
      }
    }

    /* ---- playing */

    go(step) {
      this.pause();
      const i = Math.min(Math.max(step, 0), this.steps.length - 1);
      this.show(this.steps[i].at, i);
    }

    toggle() {
      if (this.playing) this.pause();
      else this.play();
    }

    play() {
      if (this.at >= this.end) this.show(0);
      this.playing = true;
      this.play_button.textContent = "\u2759\u2759 Pause";
      this.said.setAttribute("aria-live", "off");
      if (calm.matches) this.next_calm();
      else requestAnimationFrame(time => { this.then = time; this.next_frame(time); });
    }

    pause() {
      this.playing = false;
      clearTimeout(this.timer);
      this.play_button.textContent = "\u25b6 Play";
      this.said.setAttribute("aria-live", "polite");
    }

    next_frame(time) {
      if (!this.playing) return;
      this.show(this.at + (time - this.then) / 1000 * +this.speed.value);
      this.then = time;
      if (this.at >= this.end) this.pause();
      else requestAnimationFrame(next => this.next_frame(next));
    }

    next_calm() {
      this.timer = setTimeout(() => {
        if (this.step + 1 >= this.steps.length) return this.pause();
        this.show(this.steps[this.step + 1].at, this.step + 1);
        this.next_calm();
      }, 1500);
    }

    on_key(event) {
      if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("select")) return;
      const slides = event.target === this.slider;
      const actions = {
        " ": event.target.matches("button") ? null : () => this.toggle(),
        ArrowLeft: slides ? null : () => this.go(this.step - 1),
        ArrowRight: slides ? null : () => this.go(this.step + 1),
        Home: () => this.go(0),
        End: () => this.go(this.steps.length - 1),
      };
      if (!actions[event.key]) return;
      event.preventDefault();
      actions[event.key]();
    }
  }

  /* "#step=12" in the address shows that step, "#ns=259.5" that time. */
  const scenes = [...document.querySelectorAll("section.scene")].map((section, i) => new Scene(section, i));
  const jump = () => {
    const [, what, number] = /^#(step|ns)=([\d.]+)$/.exec(location.hash) || [];
    if (what === "step") scenes[0].go(+number);
    else if (what) { scenes[0].pause(); scenes[0].show(+number * 1000); }
  };
  window.addEventListener("hashchange", jump);
  jump();
})();
