// Draws the revenue of the days of the home page. Without scripts, the same numbers are in the table below it.
'use strict';

(() => {
  const place = document.getElementById('chart');
  const { days, current, before, labels, currency, language } = JSON.parse(
    document.getElementById('chart-data').textContent,
  );
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const money = new Intl.NumberFormat(language, { style: 'currency', currency, maximumFractionDigits: 0 });
  const day = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', timeZone: 'UTC' });
  const axis = {
    stroke: colour('--quiet'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  };
  const size = () => ({ width: place.clientWidth, height: place.clientWidth < 500 ? 180 : 240 });
  const text = (_chart, value) => (value === null ? '–' : money.format(value));
  const last = days.length - 1;
  const chart = new uPlot(
    {
      ...size(),
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'UTC'),
      hooks: {
        setLegend: [({ legend, setLegend }) => legend.idx == null && setLegend({ idx: last }, false)],
      },
      // The marks are drawn as the lines are.
      legend: { markers: { dash: (_chart, series) => (series === 1 ? 'dashed' : 'solid') } },
      scales: { y: { range: (_chart, _low, high) => [0, Math.max(high * 1.1, 10)] } },
      axes: [
        { ...axis, values: (_chart, values) => values.map((value) => day.format(value * 1000)) },
        { ...axis, size: 72, values: (_chart, values) => values.map((value) => money.format(value)) },
      ],
      series: [
        { value: (_chart, value) => (value === null ? '–' : day.format(value * 1000)), label: '\u00a0' },
        {
          label: labels.before,
          stroke: colour('--field'),
          dash: [4, 4],
          width: 1.5,
          value: text,
          points: { show: false },
        },
        {
          label: labels.current,
          stroke: colour('--accent'),
          width: 2,
          value: text,
          fill: `${colour('--accent')}22`,
        },
      ],
    },
    [days, before, current],
    place,
  );
  // Where nobody points, the legend shows the last day.
  chart.setLegend({ idx: last });
  addEventListener('resize', () => chart.setSize(size()));
})();
