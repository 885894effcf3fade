'use strict';
(() => {
  // ---- data -------------------------------------------------------------------------------
  const DATA = JSON.parse(document.getElementById('data').textContent);
  const RUN = DATA.run, SUM = DATA.summary, NOTES = DATA.notes;
  const LENGTH = Math.max(RUN.length, 1);
  const LEVEL = new Map([...RUN.levels].map((c, i) => [c, i]));
  const LEVELS = RUN.levels.length - 1;
  const ABSENT = 255;
  const decode = text => Uint8Array.from(text, c => LEVEL.has(c) ? LEVEL.get(c) : ABSENT);
  let rowCount = 0;
  const ZONES = RUN.zones.map(z => ({
    name: z.name, label: z.name || 'Without a zone', nodes: z.nodes, load: decode(z.load), closed: z.closed,
    rows: z.rows.map(([name, load]) => ({name, load: decode(load), number: rowCount++})), open: true,
  }));
  for (const zone of ZONES) zone.open = rowCount <= 64;
  const QUEUES = RUN.queues.map((q, i) => ({...q, color: `var(--q${i % 8})`}));
  const EVICTIONS = RUN.evictions.map((e, i) => {
    const s = k => RUN.strings[e[k]];
    return {i, t: e[0], pod: s(1), job: s(2), queue: s(3), node: s(4), zone: s(5), action: s(6), reason: s(7),
      forPod: s(8), forJob: s(9), by: s(10), text: s(11), priority: e[12], lost: e[13], row: e[14]};
  });

  // ---- words ------------------------------------------------------------------------------
  const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
  const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
  const two = n => String(n).padStart(2, '0');
  const offsetAt = unix => {
    let offset = 0;
    for (const [from, seconds] of RUN.offsets) if (unix >= from || from === RUN.offsets[0][0]) offset = seconds;
    return offset;
  };
  const local = t => new Date((RUN.begin + t + offsetAt(RUN.begin + t)) * 1000);
  const clock = (t, seconds) => {
    const d = local(t);
    return `${two(d.getUTCHours())}:${two(d.getUTCMinutes())}${seconds ? ':' + two(d.getUTCSeconds()) : ''}`;
  };
  const day = t => { const d = local(t); return `${DAYS[d.getUTCDay()]} ${d.getUTCDate()} ${MONTHS[d.getUTCMonth()]}`; };
  const when = (t, seconds = true) => `${day(t)} ${clock(t, seconds)}`;
  const secondsOf = rfc => Date.parse(rfc) / 1000 - RUN.begin;
  const duration = s => {
    if (s === null || s === undefined) return '–';
    if (s > 0 && s < 1) return s < 0.005 ? '0s' : `${Number(s.toPrecision(2))}s`;
    s = Math.round(s);
    if (s < 60) return `${s}s`;
    if (s < 3600) return `${Math.floor(s / 60)}m${two(s % 60)}s`;
    if (s < 86400) return `${Math.floor(s / 3600)}h${two(Math.floor(s / 60) % 60)}m`;
    return `${Math.floor(s / 86400)}d${two(Math.floor(s / 3600) % 24)}h`;
  };
  const percent = f => f > 0 && f < 0.005 ? '<1%' : `${Math.round(f * 100)}%`;
  const number = n => n.toLocaleString('en-US');
  const count = n => n >= 100 || Math.abs(n - Math.round(n)) < 0.05 ? number(Math.round(n)) : n.toFixed(1);
  const plural = (n, one, many = one + 's') => `${number(n)} ${n === 1 ? one : many}`;

  // ---- elements ---------------------------------------------------------------------------
  const $ = id => document.getElementById(id);
  const fill = (node, attributes, children) => {
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
      else node.setAttribute(key, value === true ? '' : value);
    }
    node.append(...children.flat().filter(c => c !== null && c !== undefined));
    return node;
  };
  const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const s = (tag, attributes, ...children) =>
    fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
  const GLYPHS = {
    preempt: r => `M${-r},${-r * .8}L${r},${-r * .8}L0,${r}Z`,
    reclaim: r => `M0,${-r * 1.15}L${r * 1.15},0L0,${r * 1.15}L${-r * 1.15},0Z`,
    shuffle: r => `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0Z`,
  };
  const glyph = (action, r) => (GLYPHS[action] || (q => `M${-q},${-q}h${2 * q}v${2 * q}h${-2 * q}Z`))(r);
  const glyphIcon = action => s('svg', {class: 'glyph', viewBox: '-6 -6 12 12', 'aria-hidden': 'true'},
    s('path', {d: glyph(action, 4.5)}));
  const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // ---- time: one view for all charts ------------------------------------------------------
  // Beside the plots: names on the left, figures on the right. A narrow page has no room for the figures
  // there: they stand in the plots.
  const NARROW = 620;
  let narrow = false, GUTTER = 148, MARGIN = 96;
  let view = [0, LENGTH];
  let width = 1000;
  const plotWidth = () => width - GUTTER - MARGIN;
  const x = t => GUTTER + (t - view[0]) / (view[1] - view[0]) * plotWidth();
  const timeAt = px => view[0] + (px - GUTTER) / plotWidth() * (view[1] - view[0]);
  const bucketAt = t => Math.min(Math.max(Math.floor(t / RUN.width), 0), Math.ceil(LENGTH / RUN.width) - 1);
  const STEPS = [60, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800];
  const ticks = () => {
    const most = Math.max(3, Math.floor(plotWidth() / 86));
    const step = STEPS.find(x => (view[1] - view[0]) / x <= most) || 604800 * 4;
    const zero = RUN.begin + offsetAt(RUN.begin);  // ticks stand on whole local hours and days
    const list = [];
    for (let t = Math.ceil((view[0] + zero) / step) * step - zero; t <= view[1]; t += step) {
      // After a change of the clocks the same local hour is elsewhere.
      const shifted = t - (offsetAt(RUN.begin + t) - offsetAt(RUN.begin));
      if (shifted >= view[0] && shifted <= view[1]) list.push(shifted);
    }
    return list;
  };
  const setView = (from, to) => {
    const span = Math.min(Math.max(to - from, RUN.width * 8, 60), LENGTH);
    const start = Math.min(Math.max(from, 0), LENGTH - span);
    view = [start, start + span];
    render();
  };
  const zoom = {
    in: () => { const d = (view[1] - view[0]) / 4; setView(view[0] + d, view[1] - d); },
    out: () => { const d = (view[1] - view[0]) / 2; setView(view[0] - d, view[1] + d); },
    earlier: () => { const d = (view[1] - view[0]) / 3; setView(view[0] - d, view[1] - d); },
    later: () => { const d = (view[1] - view[0]) / 3; setView(view[0] + d, view[1] + d); },
    all: () => setView(0, LENGTH),
  };
  for (const button of document.querySelectorAll('[data-zoom]'))
    button.addEventListener('click', zoom[button.dataset.zoom]);

  // Lines through `bands` ([top, bottom] pairs), labels below `y`.
  const timeAxis = (y, bands) => {
    const group = s('g', {class: 'axis', 'aria-hidden': 'true'});
    let last = null;
    for (const t of ticks()) {
      const midnight = clock(t, true) === '00:00:00';
      for (const [top, bottom] of [...bands, [y, y + 4]])
        group.append(s('line', {class: midnight ? 'baseline' : 'gridline', x1: x(t), x2: x(t), y1: top, y2: bottom}));
      group.append(s('text', {x: x(t), y: y + 17, 'text-anchor': 'middle'}, midnight && view[1] - view[0] > 86400 * 2
        ? day(t) : clock(t)));
      if (last !== day(t)) {
        if (!(midnight && view[1] - view[0] > 86400 * 2))
          group.append(s('text', x(t) + 40 > width  // it would leave the page
            ? {class: 'strong', x: width, y: y + 33, 'text-anchor': 'end'}
            : {class: 'strong', x: x(t), y: y + 33, 'text-anchor': 'middle'}, day(t)));
        last = day(t);
      }
    }
    return group;
  };

  // ---- pointer: a line in every chart, a tip, dragging zooms --------------------------------
  const charts = [];
  const tip = $('tip');
  const showTip = (event, content) => {
    tip.replaceChildren(...[content].flat());
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = event.clientX + 14 + box.width > innerWidth ? event.clientX - 14 - box.width : event.clientX + 14;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.min(Math.max(4, event.clientY + 14), innerHeight - box.height - 4)}px`;
  };
  const hideTip = () => { tip.hidden = true; };
  const cross = t => {
    for (const chart of charts) {
      if (!chart.line) continue;
      chart.line.setAttribute('visibility', t === null ? 'hidden' : 'visible');
      if (t !== null) { chart.line.setAttribute('x1', x(t)); chart.line.setAttribute('x2', x(t)); }
    }
  };
  const addChart = (id, draw, tipAt) => {
    const chart = {root: $(id), draw, tipAt, line: null, svg: null};
    let from = null;
    const inPlot = event => {
      const box = chart.root.getBoundingClientRect();
      const px = event.clientX - box.left;
      return {px, y: event.clientY - box.top, inside: px >= GUTTER && px <= width - MARGIN};
    };
    chart.root.addEventListener('pointermove', event => {
      const at = inPlot(event);
      if (!at.inside && from === null) { cross(null); hideTip(); return; }
      const t = Math.min(Math.max(timeAt(at.px), view[0]), view[1]);
      cross(t);
      if (from !== null && Math.abs(at.px - from) > 4) {
        const other = Math.min(Math.max(at.px, GUTTER), width - MARGIN);
        for (const c of charts) {
          c.brush.setAttribute('x', Math.min(from, other));
          c.brush.setAttribute('width', Math.abs(other - from));
        }
        hideTip();
        return;
      }
      const content = event.target.closest('.mark') ? null : tipAt(t, at.y);
      if (content) showTip(event, content); else if (!event.target.closest('.mark')) hideTip();
    });
    chart.root.addEventListener('pointerdown', event => {
      const at = inPlot(event);
      if (event.button === 0 && event.pointerType !== 'touch' && at.inside && !event.target.closest('.mark, button'))
        from = at.px;
    });
    addEventListener('pointerup', event => {
      if (from === null) return;
      const to = Math.min(Math.max(inPlot(event).px, GUTTER), width - MARGIN);
      const start = from;
      from = null;
      for (const c of charts) c.brush.setAttribute('width', 0);
      if (Math.abs(to - start) > 8) setView(timeAt(Math.min(start, to)), timeAt(Math.max(start, to)));
    });
    chart.root.addEventListener('pointerleave', () => { cross(null); hideTip(); });
    chart.root.addEventListener('dblclick', event => { if (!event.target.closest('.mark, button')) zoom.all(); });
    charts.push(chart);
  };
  const finish = (chart, svg, height) => {
    chart.line = s('line', {class: 'cross', y1: 0, y2: height, visibility: 'hidden'});
    chart.brush = s('rect', {class: 'brush', y: 0, height: Math.max(height, 0), width: 0});
    svg.append(chart.brush, chart.line);
    chart.svg = svg;
  };
  const plot = (chart, height, label) => {
    const svg = s('svg', {class: 'plot', width, height, role: 'group', 'aria-label': label});
    const clip = `clip-${chart.root.id}`;
    svg.append(s('defs', {},
      s('clipPath', {id: clip}, s('rect', {x: GUTTER, y: -12, width: plotWidth(), height: height + 12})),
      s('pattern', {id: `hatch-${chart.root.id}`, width: 7, height: 7, patternUnits: 'userSpaceOnUse',
        patternTransform: 'rotate(45)'},
        s('rect', {width: 7, height: 7, fill: 'var(--shade)'}),
        s('line', {x1: 0, y1: 0, x2: 0, y2: 7, stroke: 'var(--hatch)', 'stroke-width': 1, opacity: 0.55}))));
    return {svg, inside: s('g', {'clip-path': `url(#${clip})`})};
  };
  const rgb = text => {
    const c = document.createElement('canvas').getContext('2d');
    c.fillStyle = text;
    const v = parseInt(c.fillStyle.slice(1), 16);
    return [v >> 16, v >> 8 & 255, v & 255];
  };
  const ramp = () => {
    const stops = ['--load-0', '--load-1', '--load-2'].map(name => rgb(css(name)));
    return Array.from({length: LEVELS + 1}, (_, i) => {
      const at = i / LEVELS * 2, k = Math.min(Math.floor(at), 1), f = at - k;
      return stops[k].map((v, c) => Math.round(v + (stops[k + 1][c] - v) * f));
    });
  };
  // Steps: one value per bucket; a path above `base`.
  const eachBucket = visit => {
    const first = bucketAt(view[0]), last = bucketAt(view[1] - 1e-6);
    for (let i = first; i <= last; i++)
      visit(i, x(Math.max(i * RUN.width, view[0])), x(Math.min((i + 1) * RUN.width, view[1])));
  };
  const area = (low, high) => {
    let upper = '', lower = '';
    eachBucket((i, a, b) => {
      upper += `${upper ? 'L' : 'M'}${a.toFixed(1)},${high(i).toFixed(1)}H${b.toFixed(1)}`;
      lower = `L${b.toFixed(1)},${low(i).toFixed(1)}H${a.toFixed(1)}` + lower;
    });
    return upper + lower + 'Z';
  };
  const line = y => {
    let path = '';
    eachBucket((i, a, b) => { path += `${path ? 'L' : 'M'}${a.toFixed(1)},${y(i).toFixed(1)}H${b.toFixed(1)}`; });
    return path;
  };

  // ---- nodes and zones --------------------------------------------------------------------
  const HEADER = 40, GAP = 14;
  const rowHeight = count => count <= 40 ? 13 : count <= 120 ? 6 : count <= 400 ? 3 : count <= 900 ? 2 : 1;
  let timelineRows = [];
  let chosen = null;
  let marks = [];
  // Every fault has its label: in the first line where there is room for it. Where there is none in any, the sign
  // alone stands; the tip has the words.
  const FAULT_LANE = 15, MOST_FAULT_LANES = 6, FAULT_LETTER = 6.2;
  const placeFaults = () => {
    const free = [], labels = [];
    for (const [t, text] of RUN.faults) {
      if (t < view[0] || t > view[1]) continue;
      const label = shorten(`⚡ ${text}`, Math.max(8, Math.floor(plotWidth() / FAULT_LETTER)));
      const wide = label.length * FAULT_LETTER;
      const left = Math.max(GUTTER - 5, Math.min(x(t) - 5, width - MARGIN - wide));
      let lane = free.findIndex(from => left >= from);
      if (lane < 0) lane = free.length;
      if (lane >= MOST_FAULT_LANES) {
        labels.push({t, text, label: '⚡', lane: MOST_FAULT_LANES - 1, left: x(t) - 5});
        continue;
      }
      free[lane] = left + wide + 12;
      labels.push({t, text, label, lane, left});
    }
    return {labels, lanes: free.length};
  };
  // A number beside the plot, or in it.
  const figure = (svg, y, value, word) => svg.append(
    s('text', narrow ? {class: 'halo', x: width - MARGIN - 4, y, 'text-anchor': 'end', style: 'pointer-events:none'}
      : {x: width - MARGIN + 10, y}, s('tspan', {class: 'figure'}, value), ` ${word}`));
  const drawTimeline = chart => {
    timelineRows = [];
    const faults = placeFaults();
    let y = 6 + faults.lanes * FAULT_LANE;
    for (const zone of ZONES) {
      timelineRows.push({header: true, zone, y, height: HEADER});
      y += HEADER;
      if (zone.open) {
        y += 4;
        const height = rowHeight(zone.rows.length);
        for (const row of zone.rows) {
          timelineRows.push({zone, name: row.name, load: row.load, number: row.number, y, height});
          y += height;
        }
      }
      y += GAP;
    }
    const bottom = Math.max(y - GAP + 4, 24), height = bottom + 38;
    const {svg, inside} = plot(chart, height, 'Load of nodes over time. Marks are evictions.');
    svg.append(timeAxis(bottom, timelineRows.filter(r => r.header).map(r => [r.y, r.y + HEADER])), inside);

    const canvas = h('canvas', {'aria-hidden': 'true'});
    const scale = Math.max(devicePixelRatio || 1, printing ? 2 : 1);
    canvas.width = plotWidth() * scale;
    canvas.height = bottom * scale;
    canvas.style.cssText = `left:${GUTTER}px;top:0;width:${plotWidth()}px;height:${bottom}px`;
    drawHeat(canvas, scale);

    const toggles = [];
    for (const row of timelineRows) {
      if (!row.header) {
        if (row.height >= 10) svg.append(s('text', {x: GUTTER - 10, y: row.y + row.height - 2.5, 'text-anchor': 'end',
          style: 'font-size:11px'}, shorten(row.name, narrow ? 13 : 20)));
        continue;
      }
      const zone = row.zone, base = row.y + HEADER, top = row.y + 6;
      const level = i => zone.load[i] === ABSENT ? 0 : zone.load[i] / LEVELS;
      const yOf = i => base - level(i) * (base - top);
      inside.append(s('path', {class: 'load', d: area(() => base, yOf)}));
      inside.append(s('path', {class: 'load-line', d: line(yOf)}));
      svg.append(s('line', {class: 'baseline', x1: GUTTER, x2: width - MARGIN, y1: base, y2: base}));
      const known = zone.load.filter(v => v !== ABSENT);
      const mean = known.length ? known.reduce((a, b) => a + b, 0) / known.length / LEVELS : 0;
      figure(svg, base - 12, percent(mean), 'average');
      const end = zone.open && zone.rows.length ? timelineRows.filter(r => r.zone === zone).at(-1) : row;
      const lower = end.y + end.height;
      for (const [from, to] of zone.closed) {
        if (to <= view[0] || from >= view[1]) continue;
        const a = x(Math.max(from, view[0])), b = x(Math.min(to, view[1]));
        inside.append(s('rect', {class: 'closed', x: a, y: row.y, width: Math.max(b - a, 0.5), height: lower - row.y,
          fill: `url(#hatch-${chart.root.id})`}));
        if (b - a > 70) inside.append(s('text', {class: 'halo', x: a + 6, y: row.y + 15,
          style: 'pointer-events:none'}, 'closed'));
      }
      toggles.push(h('button', {type: 'button', class: 'zone-toggle', style: `top:${row.y + 4}px`,
        'aria-expanded': String(zone.open), onclick: () => { zone.open = !zone.open; render(); }},
        h('b', {}, `${zone.open ? '▾' : '▸'} ${shorten(zone.label, narrow ? 9 : 18)}`), h('span', {}, plural(zone.nodes, 'node'))));
    }
    for (const fault of faults.labels) {
      inside.append(s('line', {class: 'fault', x1: x(fault.t), x2: x(fault.t), y1: fault.lane * FAULT_LANE, y2: bottom}));
      svg.append(s('text', {'data-fault': '', x: fault.left, y: fault.lane * FAULT_LANE + 11, style: 'font-size:11px'},
        s('title', {}, `${fault.text}, ${when(fault.t)}`), fault.label));
    }
    inside.append(drawMarks(bottom));
    finish(chart, svg, bottom);
    chart.root.replaceChildren(canvas, svg, ...toggles);
  };
  const drawHeat = (canvas, scale) => {
    const context = canvas.getContext('2d');
    const colors = ramp();
    const rows = timelineRows.filter(r => !r.header);
    if (!rows.length) return;
    const count = rows[0].load.length;
    const source = document.createElement('canvas');
    source.width = count;
    source.height = rows.length;
    const sourceContext = source.getContext('2d');
    const image = sourceContext.createImageData(count, rows.length);
    rows.forEach((row, r) => {
      for (let i = 0; i < count; i++) {
        const at = (r * count + i) * 4;
        if (row.load[i] === ABSENT) continue;
        const color = colors[row.load[i]];
        image.data[at] = color[0]; image.data[at + 1] = color[1]; image.data[at + 2] = color[2];
        image.data[at + 3] = 255;
      }
    });
    sourceContext.putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    const sx = view[0] / RUN.width, sw = (view[1] - view[0]) / RUN.width;
    rows.forEach((row, r) => {
      const gap = row.height >= 6 ? 1 : 0;
      context.drawImage(source, sx, r, sw, 1, 0, row.y * scale, canvas.width, (row.height - gap) * scale);
    });
  };
  const shorten = (text, most) => text.length <= most ? text
    : text.slice(0, Math.ceil((most - 1) / 2)) + '…' + text.slice(text.length - Math.floor((most - 1) / 2));
  const headline = e => `${when(e.t)}, ${e.action}: ${e.pod}` + (e.forPod ? `, for ${e.forPod}` : `, ${e.reason}`);
  const drawMarks = bottom => {
    const group = s('g', {role: 'group', 'aria-label': 'Evictions. Arrow keys go from one to the next, Enter explains it.'});
    marks = [];
    const byNumber = new Map(timelineRows.filter(r => !r.header).map(r => [r.number, r]));
    const byZone = new Map(timelineRows.filter(r => r.header).map(r => [r.zone.name, r]));
    if (chosen !== null && EVICTIONS[chosen].t >= view[0] && EVICTIONS[chosen].t <= view[1]) {
      const at = x(EVICTIONS[chosen].t);
      group.append(s('line', {class: 'chosen-line', x1: at, x2: at, y1: 0, y2: bottom}));
    }
    const crowded = EVICTIONS.filter(e => e.t >= view[0] && e.t <= view[1]).length > 300;
    if (crowded) group.classList.add('crowded');
    for (const e of EVICTIONS) {
      if (e.t < view[0] || e.t > view[1]) continue;
      const row = byNumber.get(e.row) || byZone.get(e.zone);
      if (!row) continue;
      const radius = row.header ? crowded ? 2.6 : 4 : Math.min(Math.max(row.height * 0.38, 3.4), 5);
      const y = row.header ? row.y + row.height - 5 : row.y + row.height / 2;
      const mark = s('g', {class: e.i === chosen ? 'mark chosen' : 'mark', 'data-eviction': e.i, role: 'button',
        tabindex: -1, 'aria-label': headline(e), transform: `translate(${x(e.t).toFixed(1)},${y.toFixed(1)})`},
        s('path', {d: glyph(e.action, e.i === chosen ? radius + 2 : radius)}));
      marks.push(mark);
      group.append(mark);
    }
    if (chosen !== null) { const m = marks.find(k => +k.dataset.eviction === chosen); if (m) group.append(m); }
    if (marks.length) (marks.find(m => +m.dataset.eviction === chosen) || marks[0]).setAttribute('tabindex', 0);
    const markOf = event => event.target.closest('.mark');
    group.addEventListener('click', event => { const m = markOf(event); if (m) choose(+m.dataset.eviction, 'mark'); });
    group.addEventListener('keydown', event => {
      const m = markOf(event);
      if (!m) return;
      if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); choose(+m.dataset.eviction, 'mark'); return; }
      const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
      if (!step) return;
      event.preventDefault();
      const next = marks[marks.indexOf(m) + step];
      if (next) { m.setAttribute('tabindex', -1); next.setAttribute('tabindex', 0); next.focus(); }
    });
    group.addEventListener('pointermove', event => {
      const m = markOf(event);
      if (!m) return;
      const e = EVICTIONS[+m.dataset.eviction];
      showTip(event, [h('b', {}, `${e.action} · ${e.reason}`), h('br'), e.pod, h('br'),
        h('span', {class: 'dim'}, `${when(e.t)} on ${e.node || 'an unknown node'}`),
        ...(e.forPod ? [h('br'), h('span', {class: 'dim'}, `for ${e.forPod}`)] : [])]);
    });
    return group;
  };
  const timelineTip = (t, y) => {
    const row = timelineRows.find(r => y >= r.y && y < r.y + r.height);
    if (!row) return null;
    const load = (row.header ? row.zone.load : row.load)[bucketAt(t)];
    const closed = row.zone.closed.some(([a, b]) => t >= a && t < b);
    const near = RUN.faults.filter(([at]) => Math.abs(x(at) - x(t)) < 4).map(([, fault]) => fault);
    return [h('b', {}, row.header ? row.zone.label : row.name), h('br'),
      load === ABSENT || load === undefined ? 'not there' : `${percent(load / LEVELS)} of allocatable used`, h('br'),
      h('span', {class: 'dim'}, `${when(t, false)}${closed ? ' · zone closed' : ''}`),
      ...near.flatMap(fault => [h('br'), `⚡ ${fault}`])];
  };

  // ---- queues -----------------------------------------------------------------------------
  const niceTop = value => [0.1, 0.2, 0.4, 0.6, 0.8, 1].find(v => value <= v) || Math.ceil(value);
  const PANEL = 74, PANEL_GAP = 16;
  const hasDeserved = QUEUES.some(q => q.deserved.some(v => v > 0));
  const drawQueues = chart => {
    if (!QUEUES.length) { chart.root.replaceChildren(h('p', {class: 'none'}, 'No queue was reported.')); return; }
    let most = 0.05;
    for (const q of QUEUES) for (let i = 0; i < q.share.length; i++) most = Math.max(most, q.share[i], q.deserved[i]);
    const topValue = niceTop(most);
    const bottom = QUEUES.length * (PANEL + PANEL_GAP) - PANEL_GAP + 6, height = bottom + 38;
    const {svg, inside} = plot(chart, height, 'Share of each queue over time against what it deserves.');
    svg.append(timeAxis(bottom, QUEUES.map((_, n) => [4 + n * (PANEL + PANEL_GAP), 4 + n * (PANEL + PANEL_GAP) + PANEL])), inside);
    QUEUES.forEach((q, n) => {
      const top = 4 + n * (PANEL + PANEL_GAP), base = top + PANEL;
      const yOf = v => base - Math.min(v, topValue) / topValue * PANEL;
      for (const part of [0.5, 1]) {
        const v = topValue * part;
        svg.insertBefore(s('line', {class: 'gridline', x1: GUTTER, x2: width - MARGIN, y1: yOf(v), y2: yOf(v)}), inside);
        svg.append(s('text', {x: GUTTER - 10, y: yOf(v) + 4, 'text-anchor': 'end'}, percent(v)));
      }
      inside.append(
        s('path', {d: area(() => base, i => yOf(hasDeserved ? Math.min(q.share[i], q.deserved[i]) : q.share[i])),
          fill: q.color, opacity: 0.28}));
      if (hasDeserved) inside.append(s('path', {d: area(i => yOf(Math.min(q.share[i], q.deserved[i])), i => yOf(q.share[i])),
        fill: q.color, opacity: 0.75}));
      inside.append(s('path', {d: line(i => yOf(q.share[i])), fill: 'none', stroke: q.color, 'stroke-width': 1.6}));
      if (hasDeserved) inside.append(s('path', {class: 'deserved', d: line(i => yOf(q.deserved[i]))}));
      svg.append(s('line', {class: 'baseline', x1: GUTTER, x2: width - MARGIN, y1: base, y2: base}));
      svg.append(narrow
        ? s('text', {class: 'strong halo', x: GUTTER + 6, y: top + 12, style: 'pointer-events:none'}, shorten(q.name, 24))
        : s('text', {class: 'strong', x: 0, y: top + 12}, shorten(q.name, 13)));
      const figures = SUM.queues[q.name];
      if (figures && figures.share !== null) {
        figure(svg, top + PANEL / 2 - 2, percent(figures.share), 'held');
        if (hasDeserved) figure(svg, top + PANEL / 2 + 14, percent(figures.deserved_share), 'deserved');
      }
    });
    finish(chart, svg, bottom);
    chart.root.replaceChildren(svg);
  };
  const queuesTip = t => {
    const i = bucketAt(t);
    return [h('span', {class: 'dim'}, when(t, false)), h('table', {}, ...QUEUES.map(q => h('tr', {},
      h('td', {}, h('i', {style: `background:${q.color}`}), q.name), h('td', {}, percent(q.share[i])),
      hasDeserved ? h('td', {class: 'dim'}, `\u00a0 of ${percent(q.deserved[i])}`) : null)))];
  };

  // ---- waiting jobs -----------------------------------------------------------------------
  const totals = QUEUES.length ? QUEUES[0].waiting.map((_, i) => QUEUES.reduce((sum, q) => sum + q.waiting[i], 0)) : [];
  const drawPending = chart => {
    const most = Math.max(1, ...totals);
    const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000].find(v => most / v <= 4) || most;
    const topValue = Math.ceil(most / step) * step;
    const base = 136, top = 8, height = base + 38;
    const {svg, inside} = plot(chart, height, 'Number of waiting jobs over time, by queue.');
    svg.append(timeAxis(base, [[top, base]]), inside);
    const yOf = v => base - v / topValue * (base - top);
    for (let v = step; v <= topValue; v += step) {
      svg.insertBefore(s('line', {class: 'gridline', x1: GUTTER, x2: width - MARGIN, y1: yOf(v), y2: yOf(v)}), inside);
      svg.append(s('text', {x: GUTTER - 10, y: yOf(v) + 4, 'text-anchor': 'end'}, number(v)));
    }
    svg.append(s('text', {x: GUTTER - 10, y: base + 4, 'text-anchor': 'end'}, '0'));
    const below = totals.map(() => 0);
    for (const q of QUEUES) {
      const low = below.slice();
      q.waiting.forEach((v, i) => { below[i] += v; });
      inside.append(s('path', {d: area(i => yOf(low[i]), i => yOf(below[i])), fill: q.color, opacity: 0.85}));
    }
    svg.append(s('line', {class: 'baseline', x1: GUTTER, x2: width - MARGIN, y1: base, y2: base}));
    const peak = totals.indexOf(Math.max(...totals));
    if (totals.length && totals[peak] > 0 && peak * RUN.width >= view[0] && peak * RUN.width <= view[1])
      inside.append(s('text', {class: 'value halo', x: Math.min(x(peak * RUN.width) + 4, width - MARGIN - 90),
        y: Math.max(yOf(totals[peak]) - 4, 12)}, `${count(totals[peak])} at ${clock(peak * RUN.width)}`));
    finish(chart, svg, base);
    chart.root.replaceChildren(svg);
  };
  const pendingTip = t => {
    const i = bucketAt(t);
    return [h('span', {class: 'dim'}, when(t, false)), h('table', {},
      ...QUEUES.slice().reverse().map(q => h('tr', {}, h('td', {}, h('i', {style: `background:${q.color}`}), q.name),
        h('td', {}, count(q.waiting[i])))),
      h('tr', {}, h('td', {}, h('b', {}, 'all')), h('td', {}, h('b', {}, count(totals[i] || 0)))))];
  };

  // ---- the explanation of one eviction ----------------------------------------------------
  const panel = $('panel');
  let cameFrom = null;
  const choose = (i, from) => {
    const first = panel.hidden;
    chosen = i;
    const e = EVICTIONS[i];
    if (first) cameFrom = from === 'mark' ? 'mark' : document.activeElement;
    const entry = (name, value) => value === '' || value === null ? [] : [h('dt', {}, name), h('dd', {}, value)];
    const shown = filtered.length ? filtered : EVICTIONS;
    const at = shown.indexOf(e);
    const go = step => () => { const next = shown[at + step]; if (next) choose(next.i, 'panel'); };
    panel.replaceChildren(
      h('div', {class: 'bar'},
        h('button', {type: 'button', onclick: go(-1), disabled: at <= 0, 'aria-label': 'Previous eviction'}, '◀'),
        h('button', {type: 'button', onclick: go(1), disabled: at < 0 || at + 1 >= shown.length, 'aria-label': 'Next eviction'}, '▶'),
        h('button', {type: 'button', onclick: closePanel, 'aria-label': 'Close the explanation'}, 'Close')),
      h('h2', {id: 'panel-title'}, glyphIcon(e.action), e.pod),
      h('p', {class: 'when'}, `evicted ${when(e.t)} by ${e.action}`),
      h('p', {class: 'story', id: 'explanation'}, e.text || 'No explanation was recorded.'),
      h('dl', {}, ...entry('Reason', e.reason), ...entry('Made room for', e.forPod || 'nobody'),
        ...entry('of job', e.forJob), ...entry('Allowed by', e.by), ...entry('Its job', e.job),
        ...entry('Queue', e.queue), ...entry('Priority', String(e.priority)), ...entry('Node', e.node),
        ...entry('Zone', e.zone), ...entry('Work lost', duration(e.lost))));
    panel.hidden = false;
    document.body.classList.add('beside-panel');
    if (location.hash !== `#eviction-${i}`) history.replaceState(null, '', `#eviction-${i}`);
    if (e.t < view[0] || e.t > view[1]) { const d = (view[1] - view[0]) / 2; setView(e.t - d, e.t + d); }
    else { render(); }
    markRow();
    panel.focus({preventScroll: true});
  };
  const closePanel = () => {
    const last = chosen;
    panel.hidden = true;
    document.body.classList.remove('beside-panel');
    chosen = null;
    history.replaceState(null, '', location.pathname + location.search);
    render();
    markRow();
    if (cameFrom === 'mark') { const m = marks.find(k => +k.dataset.eviction === last); if (m) m.focus(); }
    else if (cameFrom && cameFrom.isConnected) cameFrom.focus();
  };
  addEventListener('keydown', event => { if (event.key === 'Escape' && !panel.hidden) closePanel(); });
  const followHash = () => {
    const match = /^#eviction-(\d+)$/.exec(location.hash);
    if (match && EVICTIONS[+match[1]] && chosen !== +match[1]) choose(+match[1], 'link');
  };
  addEventListener('hashchange', followHash);

  // ---- table of evictions -----------------------------------------------------------------
  const PAGE = 100;
  let filtered = EVICTIONS, page = PAGE, sortBy = 'time', sortDown = false;
  const filters = {queue: '', action: '', zone: '', text: ''};
  const COLUMNS = [
    {key: 'time', name: 'Time', of: e => e.t},
    {key: 'victim', name: 'Evicted pod', of: e => e.pod},
    {key: 'queue', name: 'Queue', of: e => e.queue},
    {key: 'node', name: 'Node', of: e => e.node},
    {key: 'zone', name: 'Zone', of: e => e.zone},
    {key: 'action', name: 'Action', of: e => `${e.action} ${e.reason}`},
    {key: 'for', name: 'Made room for', of: e => e.forPod},
    {key: 'priority', name: 'Priority', of: e => e.priority, n: true},
    {key: 'lost', name: 'Work lost', of: e => e.lost, n: true},
  ];
  const tableHead = () => $('victims').tHead.replaceChildren(h('tr', {}, ...COLUMNS.map(c => h('th', {scope: 'col',
    class: c.n ? 'n' : null, 'aria-sort': sortBy === c.key ? (sortDown ? 'descending' : 'ascending') : 'none'},
    h('button', {type: 'button', 'data-sort': c.key, onclick: () => {
      sortDown = sortBy === c.key ? !sortDown : Boolean(c.n);
      sortBy = c.key;
      tableHead();
      refilter();
      document.querySelector(`[data-sort="${c.key}"]`).focus();
    }}, c.name)))));
  const tableRow = e => [h('tr', {'data-row': e.i, class: 'has-why', onclick: event => {
    if (getSelection().isCollapsed) { event.preventDefault(); choose(e.i, 'row'); }
  }},
  h('td', {class: 'keep'}, h('a', {href: `#eviction-${e.i}`, 'aria-label': `Explain: ${headline(e)}`}, when(e.t))),
  h('td', {}, e.pod), h('td', {class: 'keep'}, e.queue),
  h('td', {class: 'keep'}, e.node), h('td', {class: 'keep'}, e.zone || '–'),
  h('td', {class: 'keep'}, glyphIcon(e.action), e.action, e.reason && e.reason !== e.action ? h('span', {class: 'sub'}, ` ${e.reason}`) : null),
  h('td', {}, e.forPod || '–'), h('td', {class: 'n'}, number(e.priority)), h('td', {class: 'n'}, duration(e.lost))),
  h('tr', {class: 'print-only'}, h('td', {colspan: COLUMNS.length}, e.text))];
  const markRow = () => {
    for (const row of $('victims').tBodies[0].rows) row.classList.toggle('chosen', +row.dataset.row === chosen);
  };
  const fillTable = () => {
    $('victims').tBodies[0].replaceChildren(...filtered.slice(0, page).flatMap(tableRow));
    $('more').replaceChildren(...(filtered.length > page ? [h('button', {type: 'button', onclick: () => {
      page += 5 * PAGE;
      fillTable();
    }}, `Show more (${number(filtered.length - page)} left)`)] : []));
    $('filters').querySelector('output').textContent = filtered.length === EVICTIONS.length
      ? plural(EVICTIONS.length, 'eviction') : `${number(filtered.length)} of ${plural(EVICTIONS.length, 'eviction')}`;
    markRow();
  };
  const refilter = () => {
    const column = COLUMNS.find(c => c.key === sortBy);
    const text = filters.text.toLowerCase();
    filtered = EVICTIONS.filter(e => (!filters.queue || e.queue === filters.queue)
      && (!filters.action || e.action === filters.action) && (!filters.zone || (e.zone || '–') === filters.zone)
      && (!text || `${e.pod} ${e.node} ${e.forPod} ${e.reason} ${e.text}`.toLowerCase().includes(text)));
    filtered.sort((a, b) => {
      const p = column.of(a), q = column.of(b);
      return (p < q ? -1 : p > q ? 1 : a.i - b.i) * (sortDown ? -1 : 1);
    });
    fillTable();
  };
  const buildTable = () => {
    const options = of => [...new Set(EVICTIONS.map(of))].sort();
    const select = (key, name, of) => h('label', {}, name, h('select', {name: key, onchange: event => {
      filters[key] = event.target.value;
      page = PAGE;
      refilter();
    }}, h('option', {value: ''}, 'all'), ...options(of).map(v => h('option', {value: v}, v === '–' ? 'without a zone' : v))));
    $('filters').append(select('queue', 'Queue', e => e.queue), select('action', 'Action', e => e.action),
      select('zone', 'Zone', e => e.zone || '–'),
      h('label', {}, 'Text', h('input', {type: 'search', placeholder: 'pod, node, reason', oninput: event => {
        filters.text = event.target.value;
        page = PAGE;
        refilter();
      }})), h('output', {'aria-live': 'polite'}));
    $('filters').addEventListener('submit', event => event.preventDefault());
    tableHead();
    refilter();
    const listed = RUN.evictionsSeen > EVICTIONS.length ? ` ${number(EVICTIONS.length)} of ${number(RUN.evictionsSeen)} are listed.` : '';
    $('evictions-note').textContent = EVICTIONS.length
      ? `Choose a row, or a mark in the timeline, to read why.${listed}` : 'Nobody was evicted.';
    if (!EVICTIONS.length) { $('filters').hidden = true; $('victims').hidden = true; }
  };

  // ---- figures and tables of the summary ---------------------------------------------------
  const figures = () => {
    const figure = (name, value, unit, note) => h('div', {}, h('div', {class: 'name'}, name),
      h('div', {class: 'value'}, value, unit ? h('small', {}, ` ${unit}`) : null), h('div', {class: 'note'}, note));
    const use = Object.entries(SUM.use).filter(([, f]) => f.allocatable > 0);
    const busiest = use.slice().sort((a, b) => b[1].fraction - a[1].fraction)[0];
    const drains = SUM.drains.filter(d => d.seconds > 0 || d.evictions > 0);
    const slow = drains.slice().sort((a, b) => b.seconds - a.seconds)[0];
    const worked = SUM.work.useful_seconds + SUM.work.lost_seconds;
    $('figures').append(
      busiest ? figure(`${{cpu: 'CPU', memory: 'Memory'}[busiest[0]] || busiest[0]} in use`, percent(busiest[1].fraction), null,
        [`peak ${percent(busiest[1].peak / busiest[1].allocatable)}`,
          ...use.filter(u => u !== busiest).slice(0, 1).map(([n, f]) => `${n} ${percent(f.fraction)}`)].join(', '))
        : figure('In use', '–', null, 'no nodes'),
      figure('Jobs completed', number(SUM.jobs.completed), `of ${number(SUM.jobs.submitted)}`,
        `${number(SUM.jobs.running)} running, ${number(SUM.jobs.waiting)} waiting at the end`),
      figure('Wait of jobs', duration(SUM.job_wait.p50), 'median',
        `p95 ${duration(SUM.job_wait.p95)}, p99 ${duration(SUM.job_wait.p99)}`),
      figure('Evictions', number(SUM.pods.evicted), null, `${number(SUM.pods.evicted_again)} of pods evicted before`),
      figure('Work lost', duration(SUM.work.lost_seconds), null,
        worked > 0 ? `${(100 * SUM.work.lost_seconds / worked).toFixed(1)}% of all pod time` : 'no pod ran'),
      slow ? figure('Slowest drain', (slow.end === 'drained' ? '' : '> ') + duration(slow.seconds), null,
        `${slow.zone}, closed ${when(secondsOf(slow.closed), false)}`)
        : figure('Slowest drain', '–', null, 'no zone had to be emptied'));
  };
  const table = (columns, rows) => h('table', {class: 'list'},
    h('thead', {}, h('tr', {}, ...columns.map(c => h('th', {scope: 'col', class: c.n ? 'n' : null}, c.name)))),
    h('tbody', {}, ...rows.map(row => h('tr', {}, ...row.map((cell, i) => h('td', {class: columns[i].n ? 'n' : columns[i].cls || null}, cell))))));
  const block = (title, note, content, wide) => $('details').append(
    h('div', {class: wide ? 'wide' : null}, h('h2', {}, title), h('p', {}, note), content));
  const text = name => ({name}), num = name => ({name, n: true});
  const SHOWN = 12;
  const upTo = (rows, make) => rows.slice(0, SHOWN).map(make);
  const leftOut = rows => rows.length > SHOWN ? ` The first ${SHOWN} of ${number(rows.length)}.` : '';
  const details = () => {
    const drains = SUM.drains.filter(d => d.end !== 'drained' || d.seconds > 0 || d.evictions > 0);
    if (drains.length) block('Closing zones', 'Time until nobody who should go was left, and what held it up.' + leftOut(drains),
      table([text('Zone'), {name: 'Closed', cls: 'keep'}, num('Took'), num('Evicted'), text('Held up by')], upTo(drains, d => [d.zone,
        when(secondsOf(d.closed), false), {drained: '', reopened: 'not before ', 'run-ended': 'not in '}[d.end] + duration(d.seconds),
        number(d.evictions), d.held.length ? h('span', {}, ...d.held.slice(0, 3).map(k => h('span', {style: 'display:block'},
          `${k.why} `, h('span', {style: 'color:var(--soft)'}, `(${duration(k.seconds)}, ${plural(k.most_pods, 'pod')} left in the zone)`))),
          d.held.length > 3 ? h('span', {style: 'color:var(--soft)'}, `and ${number(d.held.length - 3)} more`) : null) : '–'])), true);
    const waits = (title, note, key) => block(title, note, table([text('Queue'), num('Count'), num('p50'), num('p95'), num('p99'),
      num('Longest'), num('Still waiting')], [...Object.entries(SUM.queues).map(([name, q]) => [name, q[key]]), ['all', SUM[key]]]
      .filter(([, w]) => w.count + w.unfinished > 0)
      .map(([name, w]) => [name, number(w.count), ...[w.p50, w.p95, w.p99, w.longest].map(duration),
        w.unfinished ? `${number(w.unfinished)} (${duration(w.oldest_unfinished)})` : '–'])));
    waits('Wait of jobs', 'From submission until minAvailable pods are bound.', 'job_wait');
    waits('Wait of pods', 'From creation until bound.', 'pod_wait');
    if (SUM.evictions.length) block('Evictions by reason', 'With the pod time that was lost.',
      table([text('Action'), text('Reason'), num('Pods'), num('Lost')],
        SUM.evictions.map(e => [e.action, e.reason, number(e.pods), duration(e.lost_seconds)])));
    if (SUM.head_room.length) block('Head-room', 'Fewest pods a job had above its floor after an eviction.' + leftOut(SUM.head_room),
      table([text('Job'), text('Floor'), num('Least'), num('At the floor')], upTo(SUM.head_room, r =>
        [r.job, `${r.floor} (${r.floor_of})`, number(r.least), plural(r.at_floor, 'time')])));
    if (SUM.thrash.length || SUM.eviction_loops.length) block('Thrash', 'Jobs evicted more than once; again: a pod whose place had been evicted before.'
      + leftOut(SUM.thrash), h('div', {}, table([text('Job'), text('Queue'), num('Evictions'), num('Again'), num('One pod'), num('Lost')],
      upTo(SUM.thrash, j => [j.job, j.queue, number(j.evictions), number(j.re_evictions), number(j.worst_pod), duration(j.lost_seconds)])),
      ...SUM.eviction_loops.map(l => h('p', {}, `Loop: ${l}`))), true);
    if (SUM.waiting.length) block('Waiting at the end', 'Longest first.' + leftOut(SUM.waiting),
      table([text('Job'), text('Queue'), num('Pods'), num('Since'), {name: 'Why', cls: 'why-text'}], upTo(SUM.waiting, j =>
        [j.job, j.queue, `${j.bound} of ${j.min_available}`, duration(j.seconds), j.why || 'not known'])), true);
  };
  const swatch = (content, wide = 22) => s('svg', {width: wide, height: 12, 'aria-hidden': 'true'}, content);
  const legends = () => {
    const actions = [...new Set(EVICTIONS.map(e => e.action))].sort();
    $('timeline-legend').append(h('span', {}, 'idle', h('span', {class: 'ramp'}), 'full'),
      ...(ZONES.some(z => z.closed.length) ? [h('span', {}, swatch([s('rect', {width: 22, height: 12, fill: 'url(#hatch-timeline)',
        stroke: 'var(--rule)'})]), 'window closed')] : []),
      ...actions.map(a => h('span', {class: 'action'}, glyphIcon(a), `evicted by ${a}`)));
    if (hasDeserved) $('queues-legend').append(
      h('span', {}, swatch([s('line', {class: 'deserved', x1: 0, x2: 22, y1: 6, y2: 6, stroke: 'var(--ink)', 'stroke-width': 1.25, 'stroke-dasharray': '4 3'})]), 'deserved'),
      h('span', {}, swatch([s('rect', {width: 22, height: 12, fill: 'var(--soft)', opacity: 0.28})]), 'held'),
      h('span', {}, swatch([s('rect', {width: 22, height: 12, fill: 'var(--soft)', opacity: 0.75})]), 'held above deserved'));
    $('pending-legend').append(...QUEUES.map(q => h('span', {}, swatch([s('rect', {width: 12, height: 12, rx: 2, fill: q.color})], 12), q.name)));
  };

  // ---- the page -----------------------------------------------------------------------------
  let printing = false;
  let started = false;
  const render = () => {
    narrow = !printing && $('timeline').clientWidth < NARROW;
    [GUTTER, MARGIN] = narrow ? [92, 14] : [148, 96];
    width = Math.max($('timeline').clientWidth, 260);
    const focused = document.activeElement && document.activeElement.dataset.eviction;
    for (const chart of charts) chart.draw(chart);
    if (focused !== undefined) { const m = marks.find(k => k.dataset.eviction === focused); if (m) m.focus({preventScroll: true}); }
    $('range').textContent = `${when(view[0], false)} – ${when(view[1], false)}` + (view[0] > 0 || view[1] < LENGTH ? '' : ' · drag in a chart to zoom');
    hideTip();
  };
  const media = matchMedia('(prefers-color-scheme: dark)');
  let theme = null;
  const applyTheme = () => {
    const dark = !printing && (theme ? theme === 'dark' : media.matches);
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    $('theme').textContent = dark ? 'Light' : 'Dark';
    if (started) render();
  };
  $('theme').addEventListener('click', () => {
    theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
    applyTheme();
  });
  media.addEventListener('change', applyTheme);
  const print = on => { if (printing !== on) { printing = on; applyTheme(); } };
  addEventListener('beforeprint', () => print(true));
  addEventListener('afterprint', () => print(false));
  matchMedia('print').addEventListener('change', event => print(event.matches));

  $('title').textContent = SUM.scenario || 'Simulation';
  $('lede').textContent = `${when(0, false)} – ${when(RUN.length, false)}, ${SUM.time_zone} · ${plural(SUM.nodes, 'node')} · `
    + `${plural(SUM.jobs.submitted, 'job')} · ${plural(SUM.pods.bound, 'pod')} placed · seed ${SUM.seed}`;
  if (NOTES.expectations.length) {
    $('expectations').hidden = false;
    const missed = NOTES.expectations.filter(e => !e.met).length;
    $('expectations-title').textContent = missed ? `Expectations: ${number(missed)} of ${number(NOTES.expectations.length)} missed`
      : `Expectations: all ${number(NOTES.expectations.length)} met`;
    $('expectations').querySelector('details').open = missed > 0;  // good news may stay folded
    $('expectations').querySelector('ul').append(...NOTES.expectations.map(e => h('li', {class: e.met ? 'met' : 'missed'},
      h('span', {class: 'mark', 'aria-hidden': 'true'}, e.met ? '✓' : '✗'), h('span', {class: 'unseen'}, e.met ? 'met: ' : 'missed: '), e.text,
      e.detail ? h('span', {class: 'detail'}, e.detail) : null)));
  }
  $('about').append(...RUN.aggregated.map(line => h('p', {}, line)),
    ...(NOTES.command ? [h('p', {}, 'Made by ', h('code', {}, NOTES.command))] : []));
  addChart('timeline', drawTimeline, timelineTip);
  addChart('queues', drawQueues, queuesTip);
  addChart('pending', drawPending, pendingTip);
  figures();
  buildTable();
  details();
  legends();
  started = true;
  applyTheme();
  let last = width;
  new ResizeObserver(() => {
    const now = Math.max($('timeline').clientWidth, 560);
    if (now !== last) { last = now; render(); }
  }).observe($('timeline'));
  followHash();
})();
