"""Writes the files beside it: recommendations as each library writes them, and want.json, the lists as they are in memory.

pip install pandas pyarrow implicit scikit-surprise lenskit pyspark
"""
import glob, json, os, shutil, sys
import numpy as np, pandas as pd, scipy.sparse as sp

here = os.path.dirname(os.path.abspath(__file__))
r = np.random.default_rng(1)
users, items, K = [str(u) for u in (7, 12, 30, 101)], [str(100 + i) for i in range(25)], 6
others = [str(1000 + u) for u in range(20)]
train = pd.DataFrame([(u, i, int(r.integers(1, 6))) for u in users + others for i in r.choice(items, 9, False)],
                     columns=['user', 'item', 'rating'])
seen = train.groupby('user').item.apply(set).to_dict()
want = {}

def path(name): return os.path.join(here, name)

def best(frame, user, item, score):
    return {str(u): list(g.sort_values(score, ascending=False, kind='stable')[item].astype(str))[:K]
            for u, g in frame.groupby(user) if str(u) in users}

from surprise import Dataset, Reader, SVD
algo = SVD(random_state=1, n_epochs=10).fit(Dataset.load_from_df(train, Reader(rating_scale=(1, 5))).build_full_trainset())
p = pd.DataFrame(algo.test([(u, i, 3.0) for u in users for i in items if i not in seen[u]]))
p.to_csv(path('surprise.csv'), index=False)
p.to_json(path('surprise.jsonl'), orient='records', lines=True)
want['surprise.csv'] = want['surprise.jsonl'] = best(p, 'uid', 'iid', 'est')

import implicit
uid, iid = {u: k for k, u in enumerate(users + others)}, {i: k for k, i in enumerate(items)}
m = sp.csr_matrix((np.ones(len(train)), ([uid[u] for u in train.user], [iid[i] for i in train.item])))
als = implicit.als.AlternatingLeastSquares(factors=4, iterations=5, random_state=1, num_threads=1)
als.fit(m, show_progress=False)
ids, scores = als.recommend(np.arange(len(users)), m[:len(users)], N=K)
rows = pd.DataFrame([(u, items[j], float(s)) for k, u in enumerate(users) for j, s in zip(ids[k], scores[k])],
                    columns=['user', 'item', 'score'])
lists = best(rows, 'user', 'item', 'score')
mixed = rows.sample(frac=1, random_state=1)
mixed.to_csv(path('implicit.csv'), index=False)
mixed.to_parquet(path('implicit.parquet'))
of = rows.groupby('user', sort=False)['item'].apply(list).reset_index(name='items')
of.to_json(path('pandas-lists.jsonl'), orient='records', lines=True)
of.to_parquet(path('pandas-lists.parquet'), index=False)
pd.DataFrame([[u] + lists[u] for u in users], columns=['user'] + [f'rec_{k+1}' for k in range(K)]).to_csv(path('pandas-wide.csv'), index=False)
for f in ('implicit.csv', 'implicit.parquet', 'pandas-lists.jsonl', 'pandas-lists.parquet', 'pandas-wide.csv'):
    want[f] = lists
pd.DataFrame({'user_id': [1, 1, 2], 'item_id': [5, 6, 5], 'timestamp': pd.to_datetime(['2023-01-02', '2023-01-01', '2023-01-03'])}).to_parquet(
    path('pandas-times.parquet'), index=False)
# the form of Elliot's recs folder
mixed.to_csv(path('elliot.tsv'), sep='\t', header=False, index=False)

from lenskit.als import ImplicitMFScorer
from lenskit.batch import recommend
from lenskit.data import from_interactions_df
from lenskit.pipeline import topn_pipeline
pipe = topn_pipeline(ImplicitMFScorer(embedding_size=4, epochs=5))
pipe.train(from_interactions_df(train.rename(columns={'user': 'user_id', 'item': 'item_id'})))
recs = recommend(pipe, users, n=K, n_jobs=1)
d = recs.to_df()
d.to_csv(path('lenskit.csv'), index=False)
recs.save_parquet(path('lenskit-native.parquet'))
recs.save_parquet(path('lenskit-flat.parquet'), layout='flat')
for f in ('lenskit.csv', 'lenskit-native.parquet', 'lenskit-flat.parquet'):
    want[f] = {str(u): list(g.sort_values('rank').item_id.astype(str)) for u, g in d.groupby('user_id')}

from pyspark.ml.recommendation import ALS
from pyspark.sql import SparkSession
from pyspark.sql.functions import explode
spark = SparkSession.builder.master('local[1]').config('spark.ui.enabled', 'false').config('spark.sql.shuffle.partitions', '1').getOrCreate()
model = ALS(userCol='user', itemCol='item', ratingCol='rating', rank=4, maxIter=3, seed=1, numUserBlocks=1, numItemBlocks=1).fit(
    spark.createDataFrame(train.astype({'user': int, 'item': int, 'rating': float})))
some = spark.createDataFrame([(int(u),) for u in users], ['user']).coalesce(1)
rec = model.recommendForUserSubset(some, K).coalesce(1)
lists = {str(x.user): [str(y.item) for y in x.recommendations] for x in rec.collect()}
pairs = model.transform(spark.createDataFrame([(int(u), int(i)) for u in users for i in items if i not in seen[u]], ['user', 'item'])).coalesce(1)
for name, frame, kind in [('spark', rec, 'json'), ('spark', rec, 'parquet'),
                          ('spark', rec.select('user', explode('recommendations').alias('r')).select('user', 'r.item', 'r.rating'), 'csv'),
                          ('spark-prediction', pairs, 'csv')]:
    frame.write.mode('overwrite').format(kind).option('header', True).option('compression', 'none').save('/tmp/spark-out')
    shutil.copy(glob.glob(f'/tmp/spark-out/part-*')[0], path(f'{name}.{kind}'))
    want[f'{name}.{kind}'] = lists
want['spark-prediction.csv'] = best(pairs.toPandas(), 'user', 'item', 'prediction')
shutil.rmtree('/tmp/spark-out')

import lenskit, pyarrow, pyspark, surprise
want['versions'] = {x.__name__: x.__version__ for x in (pd, pyarrow, implicit, surprise, lenskit, pyspark)}
want = {f: want[f] if f == 'versions' else {u: l[:K] for u, l in want[f].items()} for f in sorted(want)}
with open(path('want.json'), 'w') as f:
    json.dump(want, f, indent=1)
