"use strict";
(() => {
  const STEP = 200;
  const rows = JSON.parse(document.getElementById("data").textContent);
  const body = document.querySelector("#tool-table tbody");
  const heads = [...document.querySelectorAll("#tool-table thead th")];
  const [filter, more, shown, told] = ["filter", "more", "shown", "told"].map((id) => document.getElementById(id));
  const grouped = (n) => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  let [column, down, limit] = [3, true, STEP];

  const cell = (row, at) => {
    const own = document.createElement(at ? "td" : "th");
    if (at === 0) {
      own.scope = "row";
      own.append(Object.assign(document.createElement("code"), { textContent: row[0] }));
    } else {
      own.textContent = at > 2 ? grouped(row[at]) : row[at];
      if (at > 2) own.className = "r";
    }
    return own;
  };
  const line = (row) => {
    const own = document.createElement("tr");
    own.append(...row.map((_, at) => cell(row, at)));
    return own;
  };
  const draw = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = rows.filter((row) => words.every((word) => row.slice(0, 3).some((text) => text.toLowerCase().includes(word))));
    const order = (a, b) => (a[column] < b[column] ? -1 : a[column] > b[column] ? 1 : 0) * (down ? -1 : 1);
    found.sort((a, b) => order(a, b) || (a[0] < b[0] ? -1 : 1));
    body.replaceChildren(...found.slice(0, limit).map(line));
    heads.forEach((head, at) => head.setAttribute("aria-sort", at !== column ? "none" : down ? "descending" : "ascending"));
    more.hidden = found.length <= limit;
    shown.textContent = `${grouped(Math.min(limit, found.length))} of ${grouped(rows.length)} tools are shown.`;
  };

  heads.forEach((head, at) => {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: head.textContent });
    button.addEventListener("click", () => {
      [column, down] = [at, at === column ? !down : at > 2];
      draw();
    });
    head.replaceChildren(button);
  });
  filter.addEventListener("input", () => { limit = STEP; draw(); });
  more.addEventListener("click", () => { limit += STEP; draw(); });
  document.getElementById("controls").hidden = false;

  // The treemap by keyboard: arrows go from tool to tool, Enter shows it in the table.
  const tell = (map, leaf) => {
    map.querySelector(".on")?.classList.remove("on");
    leaf?.classList.add("on");
    told.textContent = leaf?.querySelector("title").textContent ?? "";
  };
  const find = (leaf) => {
    const row = rows[leaf?.dataset.row];
    if (!row) return;
    filter.value = row[0];
    draw();
    filter.focus();
    document.getElementById("tools").scrollIntoView();
  };
  for (const map of document.querySelectorAll(".map")) {
    const leaves = [...map.querySelectorAll(".t")];
    map.setAttribute("tabindex", "0");
    map.setAttribute("aria-describedby", "told");
    map.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const at = leaves.findIndex((leaf) => leaf.classList.contains("on"));
      if (step) {
        tell(map, leaves[Math.max(0, Math.min(leaves.length - 1, at < 0 ? 0 : at + step))]);
      } else if (event.key === "Enter") {
        find(leaves[at]);
      } else {
        return;
      }
      event.preventDefault();
    });
    map.addEventListener("click", (event) => find(event.target.closest(".t")));
    map.addEventListener("pointerover", (event) => tell(map, event.target.closest(".t")));
    map.addEventListener("blur", () => tell(map, null));
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== filter && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      filter.focus();
    } else if (event.key === "Escape" && document.activeElement === filter) {
      filter.value = "";
      draw();
    }
  });
  draw();
})();
